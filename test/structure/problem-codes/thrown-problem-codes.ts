import {
  isBinaryExpression,
  isCallExpression,
  isExportSpecifier,
  isIdentifier,
  isImportSpecifier,
  isNewExpression,
  isPropertyAccessExpression,
  isTypeReferenceNode,
  type Identifier,
  type Node,
} from 'typescript/unstable/ast';
import { declaredName, descendantsWithoutMethodsOfClass, type ReferenceGraph } from '../reference-graph.ts';

/** Represents a code that the compiler does not know, because the argument's type is not a union of string literals. */
export const dynamicCode = '(dynamic)';

/** A larger union of codes, such as `ProblemCode`, counts as dynamic, because it does not show which codes a call can throw. */
const maxCodesOfCall = 10;

const problemFile = 'server/http/problem-details/problem.ts';
const problemCreators = new Set(['createProblem', 'Problem']);

/**
 * Finds the problem codes that a route's handler can throw. A code counts if a function that the handler references, directly or
 * indirectly, contains `createProblem(code)` or `new Problem(code)`. The codes of a call are the string literals in the type of its
 * argument, so a parameter of the type `'invalid_cursor' | 'cursor_mismatch'` counts as two codes.
 *
 * Limitations of the search:
 *
 * - A code counts even if the handler catches the problem, or passes an argument that prevents the problem. In this case, split the
 *   function.
 * - An argument whose type is `ProblemCode` or `string` is reported as `dynamicCode`, because its value is not known.
 * - A function that is called through a computed name, or through an interface whose implementations are registered elsewhere, is not
 *   found. `listUnreachedCalls` returns the calls that no route reaches, so that a test can detect such a call.
 * - Middleware and the error handler are not searched, although they also send problems, for example for a body that is not JSON.
 */
export class ThrownProblemCodes {
  readonly #graph: ReferenceGraph;
  readonly #codesByDeclaration = new Map<Node, readonly string[]>();
  readonly #reachedCalls = new Set<Node>();

  constructor(graph: ReferenceGraph) {
    this.#graph = graph;
  }

  /** Returns the codes that a route can throw, each with the names of the functions that lead to it. */
  findCodesOfRoute(file: string, routeTable: string, route: string): ReadonlyMap<string, string> {
    const reached = this.#graph.findReachableDeclarations(file, routeTable, route);
    const found = new Map<string, string>();
    for (const declaration of reached.keys()) {
      if (isProblemCreator(declaration)) continue;
      for (const code of this.#codesThrownIn(declaration)) if (!found.has(code)) found.set(code, pathTo(declaration, reached));
    }
    return found;
  }

  /** Returns the file and the error codes of each call in `server/` that creates a problem but is not reached from any route. */
  listUnreachedCalls(root: string): string[] {
    return this.#graph.listServerSourceFiles().flatMap((file) =>
      this.#listCalls(file)
        .filter((call) => !this.#reachedCalls.has(call) && !isInProblemFile(call))
        .map((call) => `${file.fileName.slice(root.length + 1)}: ${this.#codesOfCall(call).join(', ')}`),
    );
  }

  #codesThrownIn(declaration: Node): readonly string[] {
    const known = this.#codesByDeclaration.get(declaration);
    if (known) return known;
    const calls = this.#listCalls(declaration);
    for (const call of calls) this.#reachedCalls.add(call);
    const codes = [...new Set(calls.flatMap((call) => this.#codesOfCall(call)))];
    this.#codesByDeclaration.set(declaration, codes);
    return codes;
  }

  /** Returns the uses of `createProblem` and `Problem` that create a problem, or could create one elsewhere. */
  #listCalls(node: Node): Node[] {
    const identifiers = descendantsWithoutMethodsOfClass(node).filter(isIdentifier).filter(mayCreateProblem);
    const declarations = this.#graph.resolveDeclarations(identifiers);
    return identifiers.filter((_, index) => isProblemCreator(declarations[index]));
  }

  #codesOfCall(creator: Node): string[] {
    // `problem.createProblem` if the module is imported as a namespace
    const callee = isPropertyAccessExpression(creator.parent) ? creator.parent : creator;
    const { parent } = callee;
    const isCalled = (isCallExpression(parent) || isNewExpression(parent)) && parent.expression === callee;
    const code = isCalled ? parent.arguments?.[0] : undefined;
    const codes = code ? this.#graph.listLiteralTypes(code) : [undefined];
    return codes.length > maxCodesOfCall ? [dynamicCode] : codes.map((each) => each ?? dynamicCode);
  }
}

const isInProblemFile = (node: Node): boolean => node.getSourceFile().fileName.endsWith(`/${problemFile}`);

const isProblemCreator = (declaration: Node | undefined): boolean =>
  declaration !== undefined && isInProblemFile(declaration) && problemCreators.has(declaredName(declaration) ?? '');

/** Returns whether the value of an identifier is used, except on the right side of `instanceof`. */
function mayCreateProblem(identifier: Identifier): boolean {
  const { parent } = identifier;
  if (isPropertyAccessExpression(parent)) return true;
  if (isImportSpecifier(parent) || isExportSpecifier(parent) || isTypeReferenceNode(parent)) return false;
  return !(isBinaryExpression(parent) && parent.right === identifier) && Reflect.get(parent, 'name') !== identifier;
}

function pathTo(declaration: Node, reached: ReadonlyMap<Node, Node | undefined>): string {
  const names: string[] = [];
  for (let node: Node | undefined = declaration; node; node = reached.get(node)) names.unshift(declaredName(node) ?? '(unnamed)');
  return names.join(' > ');
}
