import { initServer } from '@ts-rest/express';
import { contract, type DeliveryMethod, type DeliveryMethodReplace } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { respondWithNewEtag, formatEtag, respondWithEtag, rejectIfExists, checkIfMatch } from '../http/response/etag.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';

const columns = 'code, name, price, currency, requires_address, version';

const listMethods = prepareStatement<DeliveryMethod>(
  'list_delivery_methods_v2',
  `select ${columns} from delivery_methods where active and (price, code) > ($1::bigint, $2::text) order by price, code limit $3`,
);
const findMethod = prepareStatement<DeliveryMethod>(
  'find_delivery_method',
  `select ${columns} from delivery_methods where code = $1 and active`,
);
const lockMethod = prepareStatement<DeliveryMethod>(
  'lock_delivery_method',
  `select ${columns} from delivery_methods where code = $1 and active for update`,
);
// Creating a method again after its deletion reuses the row and increments its version.
const putMethod = prepareStatement<DeliveryMethod>(
  'upsert_delivery_method',
  `insert into delivery_methods as d (code, name, price, currency, requires_address) values ($1, $2, $3, $4, $5)
   on conflict (code) do update set name = $2, price = $3, currency = $4, requires_address = $5, active = true, version = d.version + 1
   returning ${columns}`,
);
const deleteMethod = prepareStatement(
  'delete_delivery_method',
  'update delivery_methods set active = false, version = version + 1 where code = $1',
);

const etagName = (code: string): string => `delivery-method-${code}`;

const notFound = (code: string) => createProblem('not_found', { detail: `Delivery method ${code} was not found.` });

export const deliveryMethodRoutes = ({ em, pages }: HandlerDependencies) =>
  initServer().router(contract.deliveryMethods, {
    list: async ({ query, req, res }) => {
      // Methods are listed by price and code. The cursor stores the code as its sort value and the price as its id.
      const [code, price] = pages.decodeCursor(req, query) ?? ['', -1];
      const rows = await listMethods(em, [price, code, query.limit + 1]);
      return {
        status: 200,
        body: pages.respondWithPage(
          req,
          res,
          query,
          rows,
          (method) => method,
          (method) => [method.code, method.price],
        ),
      };
    },

    get: async ({ params: { code }, req, res }) => {
      const [method] = await findMethod(em, [code]);
      if (!method) throw notFound(code);
      return respondWithEtag(req, res, etagName(code), method);
    },

    replace: async ({ params: { code }, body, req, res }) => {
      const { method, created } = await em.transactional((inner) => replaceMethod(inner, req, code, body));
      if (!created) return respondWithNewEtag(res, etagName(code), method);
      res.set('ETag', formatEtag(etagName(code), method)).location(`/api/v1/delivery-methods/${code}`);
      return { status: 201, body: method };
    },

    delete: async ({ params: { code }, req }) => {
      await em.transactional(async (inner) => {
        const [method] = await lockMethod(inner, [code]);
        if (!method) throw notFound(code);
        checkIfMatch(req, etagName(code), method);
        await deleteMethod(inner, [code]);
      });
      return { status: 204, body: undefined };
    },
  });

async function replaceMethod(em: EntityManager, req: MatchedRequest, code: string, input: DeliveryMethodReplace) {
  const [existing] = await lockMethod(em, [code]);
  if (existing) {
    rejectIfExists(req, etagName(code), existing);
    checkIfMatch(req, etagName(code), existing, 'required');
  } else if (req.get('if-match') !== undefined) {
    throw createProblem('precondition_failed', { detail: `Delivery method ${code} does not exist.` });
  }
  const [method] = await putMethod(em, [code, input.name, input.price, input.currency, input.requires_address]);
  if (!method) throw new Error('storing a delivery method returned no row');
  return { method, created: !existing };
}
