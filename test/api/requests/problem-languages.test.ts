import { problemDeclarations } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const fetchProblem = async (path: string, acceptLanguage: string) => {
  const { status, body, headers } = await server.callApi('GET', path, { headers: { 'accept-language': acceptLanguage } });
  return { status, body, contentLanguage: headers.get('content-language'), vary: headers.get('vary') };
};

describe('a problem', () => {
  test.each([
    ['de-AT', 'de', 'Diesen Pfad gibt es nicht', 'Zu diesem Pfad gibt es keinen Vorgang. /openapi.json führt alle Pfade auf.'],
    ['fr', 'fr', 'Ce chemin n’existe pas', 'Aucune opération ne correspond à ce chemin. /openapi.json répertorie tous les chemins.'],
    ['es', 'es', 'Esta ruta no existe', 'Ninguna operación corresponde a esta ruta. /openapi.json enumera todas las rutas.'],
    ['ja', 'en', 'No such path', 'No operation has this path. /openapi.json lists all paths.'],
    ['*', 'en', 'No such path', 'No operation has this path. /openapi.json lists all paths.'],
  ])('has its texts in the language that Accept-Language prefers: %s', async (header, language, title, detail) => {
    const { status, body, contentLanguage, vary } = await fetchProblem('/api/v1/nothing', header);
    expect({ status, code: body.code, title: body.title, detail: body.detail }).toEqual({
      status: 404,
      code: 'route_not_found',
      title,
      detail,
    });
    expect(contentLanguage).toBe(language);
    expect(vary).toContain('Accept-Language');
  });

  test('translates its detail and the details of its errors, with their values', async () => {
    const { body, contentLanguage } = await fetchProblem('/api/v1/products?colour=red&limit=0', 'de');
    expect(body).toMatchObject({ code: 'invalid_request', title: 'Die Anfrage ist ungültig', detail: 'Die Anfrage enthält 2 Fehler.' });
    expect(contentLanguage).toBe('de');
    expect(body.errors.map(({ parameter, code, detail }: Record<string, string>) => [parameter, code, detail])).toEqual(
      expect.arrayContaining([
        ['colour', 'unknown_parameter', 'Diesen Parameter gibt es nicht.'],
        ['limit', 'out_of_range', 'Muss mindestens 1 sein.'],
      ]),
    );
  });

  test.each([
    ['en', 'Product 123456 was not found.'],
    ['de', 'Das Produkt 123456 wurde nicht gefunden.'],
    ['fr', 'Le produit 123456 est introuvable.'],
    ['es', 'No se ha encontrado el producto 123456.'],
  ])('contains values from the request in the language %s', async (language, detail) => {
    const { status, body, contentLanguage } = await fetchProblem('/api/v1/products/123456', language);
    expect([status, body.detail, contentLanguage]).toEqual([404, detail, language]);
  });

  test('starts with the location of the error in every language if there is only one error', async () => {
    const details = await Promise.all(
      bundledLanguages.tags.map(async (tag) => (await fetchProblem('/api/v1/products?limit=x', tag)).body.detail),
    );
    expect(details).toEqual([
      'limit: Must be an integer written as plain digits.',
      'limit: Muss eine ganze Zahl sein, die nur aus Ziffern besteht.',
      'limit: Debe ser un número entero escrito solo con dígitos.',
      'limit\u00a0: Doit être un entier écrit uniquement en chiffres.',
    ]);
  });

  test('has the same code, type and status in every language', async () => {
    const problems = await Promise.all(bundledLanguages.tags.map((tag) => fetchProblem('/api/v1/users/me', tag)));
    const facts = problems.map(({ status, body }) => [status, body.code, body.type, body.status]);
    expect(new Set(facts.map((fact) => JSON.stringify(fact))).size).toBe(1);
    expect(new Set(problems.map(({ body }) => body.title)).size).toBe(bundledLanguages.tags.length);
    expect(problems[0]?.body.title).toBe(problemDeclarations.missing_token.title);
  });
});
