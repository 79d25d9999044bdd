import { join } from 'node:path';
import {
  isClassDeclaration,
  isElementAccessExpression,
  isGetAccessorDeclaration,
  isIdentifier,
  isMethodDeclaration,
  isPrivateIdentifier,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSetAccessorDeclaration,
  isShorthandPropertyAssignment,
  isSourceFile,
  isVariableStatement,
  type Identifier,
  type Node,
  type PrivateIdentifier,
  type SourceFile,
} from 'typescript/unstable/ast';
import { API, type Project, type Symbol, SymbolFlags } from 'typescript/unstable/sync';

/** References by name between functions, constants and methods in `server/`, as resolved by the TypeScript compiler. */
export class ReferenceGraph {
  readonly #root: string;
  readonly #api: API;
  readonly #project: Project;
  readonly #referencedNodes = new Map<Node, readonly Node[]>();
  /** Caches the declaration of each symbol, because a request to the compiler takes longer than reading the result from memory. */
  readonly #declarations = new Map<Symbol, Node | undefined>();

  /** @param replacedFiles contents of replaced or additional files, keyed by path relative to `root` */
  constructor(root: string, entryFiles: readonly string[], replacedFiles: Readonly<Record<string, string>> = {}) {
    this.#root = root;
    const config = { extends: './tsconfig.json', files: entryFiles, include: [] };
    const files = new Map(
      Object.entries({ 'tsconfig.walkthroughs.json': JSON.stringify(config), ...replacedFiles }).map(([path, text]) => [
        join(root, path),
        text,
      ]),
    );
    // a result of `undefined` means that the file on disk is used
    const fs = { readFile: (path: string) => files.get(path), fileExists: (path: string) => files.has(path) || undefined };
    this.#api = new API({ cwd: root, fs });
    const [project] = this.#api.updateSnapshot({ openProject: join(root, 'tsconfig.walkthroughs.json') }).getProjects();
    if (!project) throw new Error('the TypeScript compiler found no project');
    this.#project = project;
  }

  close(): void {
    this.#api.close();
  }

  /**
   * Returns the names of a declaration and of all declarations that it references directly or indirectly.
   * @param property the property of the declared object at which the search starts, such as a route
   */
  reachableNames(file: string, name: string, property?: string): ReadonlySet<string> {
    return new Set([...this.findReachableDeclarations(file, name, property).keys()].flatMap((node) => declaredName(node) ?? []));
  }

  /**
   * Like `reachableNames`, but returns the declarations, each with the declaration from which the search reached it. A reference to a class
   * reaches the class without its methods, and a reference to a method reaches that method.
   */
  findReachableDeclarations(file: string, name: string, property?: string): ReadonlyMap<Node, Node | undefined> {
    const entry = this.#findDeclaration(file, name);
    const start =
      property === undefined ? entry : descendants(entry).find((node) => isPropertyAssignment(node) && node.name.getText() === property);
    if (!start) throw new Error(`${name} has no property ${property}`);
    const reached = new Map<Node, Node | undefined>([[start, undefined]]);
    for (const node of reached.keys()) {
      for (const referenced of this.#referencesOf(node)) if (!reached.has(referenced)) reached.set(referenced, node);
    }
    return reached;
  }

  /** Returns the source files of `server/` that the entry files import directly or indirectly. */
  listServerSourceFiles(): SourceFile[] {
    const { program } = this.#project;
    return program
      .getSourceFileNames()
      .filter((path) => path.startsWith(join(this.#root, 'server/')) && !path.includes('/node_modules/'))
      .flatMap((path) => program.getSourceFile(path) ?? []);
  }

  /** Returns the declarations to which `identifiers` refer, or `undefined` for one that is declared outside `server/`. */
  resolveDeclarations(identifiers: readonly Identifier[]): (Node | undefined)[] {
    const symbols = this.#project.checker.getSymbolAtLocation(identifiers);
    return identifiers.map((identifier, index) => this.#declarationOf(identifier, symbols[index]));
  }

  /**
   * Returns the members of an expression's type, or the type itself if it is not a union: string literals by value, other types as
   * `undefined`.
   */
  listLiteralTypes(expression: Node): (string | undefined)[] {
    const type = this.#project.checker.getTypeAtLocation(expression);
    const members = type?.isUnionType() ? type.getTypes() : [type];
    return members.map((member) => (member?.isStringLiteralType() ? member.value : undefined));
  }

  #findDeclaration(file: string, name: string): Node {
    const statements = this.#project.program.getSourceFile(join(this.#root, file))?.statements ?? [];
    const declarations = statements.flatMap((statement): Node[] =>
      isVariableStatement(statement) ? [...statement.declarationList.declarations] : [statement],
    );
    const declaration = declarations.find((node) => declaredName(node) === name);
    if (!declaration) throw new Error(`${file} does not declare ${name}`);
    return declaration;
  }

  #referencesOf(node: Node): readonly Node[] {
    const known = this.#referencedNodes.get(node);
    if (known) return known;
    const names = descendantsWithoutMethodsOfClass(node).filter((each) => isIdentifier(each) || isPrivateIdentifier(each));
    const symbols = this.#project.checker.getSymbolAtLocation(names);
    const referenced = names.flatMap((name, index) => this.#declarationOf(name, symbols[index]) ?? []);
    const outside = [...new Set(referenced)].filter(
      (each) => each.getSourceFile() !== node.getSourceFile() || each.pos < node.pos || each.end > node.end || isMethod(each),
    );
    this.#referencedNodes.set(node, outside);
    return outside;
  }

  /** Returns the declaration in `server/` to which a name refers, if it declares a value. */
  #declarationOf(name: Identifier | PrivateIdentifier, found: Symbol | undefined): Node | undefined {
    const symbol = isShorthandPropertyAssignment(name.parent)
      ? this.#project.checker.getShorthandAssignmentValueSymbol(name.parent)
      : found;
    if (!symbol) return undefined;
    if (!this.#declarations.has(symbol)) this.#declarations.set(symbol, this.#resolveDeclaration(symbol));
    const declaration = this.#declarations.get(symbol);
    // The name of a namespace import refers to the whole module, unless one of the module's exports is selected.
    if (declaration && isSourceFile(declaration)) {
      return isElementAccessExpression(name.parent) || isPropertyAccessExpression(name.parent) ? undefined : declaration;
    }
    return declaration;
  }

  #resolveDeclaration(symbol: Symbol): Node | undefined {
    const target = symbol.flags & SymbolFlags.Alias ? this.#project.checker.getAliasedSymbol(symbol) : symbol;
    const handle = target.valueDeclaration;
    const isInServer = handle?.path.startsWith(join(this.#root, 'server/')) === true && !handle.path.includes('/node_modules/');
    return isInServer ? handle.resolve() : undefined;
  }
}

/** Returns the name of a function, constant, class or method. */
export const declaredName = (node: Node): string | undefined => {
  const name: unknown = Reflect.get(node, 'name');
  return isNode(name) && (isIdentifier(name) || isPrivateIdentifier(name)) ? name.text : undefined;
};

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'kind' in value;

const isMethod = (node: Node): boolean => isMethodDeclaration(node) || isGetAccessorDeclaration(node) || isSetAccessorDeclaration(node);

/** Returns the nodes inside a declaration, except a class's methods, because each method is a separate declaration. */
export const descendantsWithoutMethodsOfClass = (node: Node): Node[] => descendants(node, isClassDeclaration(node) ? isMethod : undefined);

function descendants(node: Node, isSkipped?: (child: Node) => boolean): Node[] {
  const found: Node[] = [];
  const visit = (child: Node): void => {
    if (isSkipped?.(child) === true) return;
    found.push(child);
    child.forEachChild(visit);
  };
  node.forEachChild(visit);
  return found;
}
