import { importsOf } from '../imports.ts'
import type { SourceFile } from '../source-files.ts'
import { child, children, nameOf, type Syntax, syntaxOf, textIn, walk, within } from './syntax.ts'

/** A function of the project. */
export interface Func {
  readonly file: SourceFile
  /** The class of a method; null for any other function. */
  readonly owner: string | null
  readonly name: string
  readonly node: Syntax
  /** Start of the declaration, before which its comment stands. */
  readonly at: number
}

/** The functions of the project, and the types that names are declared with anywhere in it. */
export interface ProjectNames {
  readonly funcs: readonly Func[]
  /** Types by `<path> <name>` of a parameter, field or variable. */
  readonly types: ReadonlyMap<string, ReadonlySet<string>>
  /** Paths of the files that a file imports from. */
  readonly sources: ReadonlyMap<string, readonly string[]>
  /** Path of the file that each file imports a name from, by `<path> <name>`. */
  readonly imports: ReadonlyMap<string, string>
}

/** Reads the functions, types of names and imports of files. */
export const projectNames = (files: readonly SourceFile[]): ProjectNames => {
  const funcs: Func[] = []
  const types = new Map<string, Set<string>>()
  const imports = new Map<string, string>()
  const sources = new Map<string, readonly string[]>()
  const picks: { readonly path: string; readonly from: string; readonly name: string }[] = []
  for (const file of files) {
    sources.set(
      file.path,
      importsOf(file).map(({ target }) => target),
    )
    const note = (name: string, type: string): void => {
      const key = `${file.path} ${name}`
      if (name !== '' && type !== '') types.set(key, (types.get(key) ?? new Set()).add(type))
    }
    const tree = syntaxOf(file)
    for (const [name, target] of importedNames(file)) imports.set(`${file.path} ${name}`, target)
    walk(tree, (node) => {
      noteTypes(node, note)
      for (const [from, name] of pickedNames(node)) picks.push({ path: file.path, from, name })
    })
    collect(tree, { file, owner: null, funcs })
  }
  for (const { path, from, name } of picks) {
    const picked = types.get(`${imports.get(`${path} ${from}`) ?? path} ${name}`)
    if (picked !== undefined)
      types.set(`${path} ${name}`, new Set([...(types.get(`${path} ${name}`) ?? []), ...picked]))
  }
  return { funcs, types, imports, sources }
}

/** The names that a type such as `Pick<Services, 'host' | 'now'>` takes from another one. */
const pickedNames = (node: Syntax): readonly (readonly [from: string, name: string])[] => {
  const given = child(node, 'typeArguments')
  const [from, names] = given === undefined ? [] : children(given, 'params')
  if (from?.type !== 'TSTypeReference' || names === undefined) return []
  const literals = names.type === 'TSUnionType' ? children(names, 'types') : [names]
  return literals.map((each) => [textIn(child(from, 'typeName'), 'name'), textIn(child(each, 'literal'), 'value')])
}

const importedNames = (file: SourceFile): readonly (readonly [name: string, target: string])[] => {
  const targets = new Map(importsOf(file).map(({ specifier, target }) => [specifier, target]))
  return [...file.text.matchAll(/^import(?: type)? \{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, names = '', specifier = '']) =>
      names.split(',').map((each) => [each.trim().replace(/^type /, ''), targets.get(specifier) ?? ''] as const),
  )
}

const noteTypes = (node: Syntax, note: (name: string, type: string) => void): void => {
  if (node.type === 'Identifier') note(nameOf(node), typeNameOf(child(node, 'typeAnnotation')))
  if (node.type === 'TSPropertySignature' || node.type === 'PropertyDefinition') {
    note(nameOf(child(node, 'key')), typeNameOf(child(node, 'typeAnnotation')))
    note(nameOf(child(node, 'key')), madeType(child(node, 'value')))
  }
  if (node.type === 'VariableDeclarator') note(nameOf(child(node, 'id')), madeType(child(node, 'init')))
  if (node.type === 'Property') note(nameOf(child(node, 'key')), madeType(child(node, 'value')))
  if (node.type === 'AssignmentExpression') note(nameOf(child(node, 'left')), madeType(child(node, 'right')))
}

const madeType = (node: Syntax | undefined): string =>
  node?.type === 'NewExpression' ? nameOf(child(node, 'callee')) : ''

/** Returns the name of a type, or of the one that `Pick` narrows. */
const typeNameOf = (annotation: Syntax | undefined): string => {
  const type = child(annotation, 'typeAnnotation') ?? annotation
  if (type?.type === 'TSUnionType')
    return (
      children(type, 'types')
        .map(typeNameOf)
        .find((name) => name !== '') ?? ''
    )
  if (type?.type !== 'TSTypeReference') return ''
  const name = textIn(child(type, 'typeName'), 'name')
  const argument = child(type, 'typeArguments')
  const [first] = argument === undefined ? [] : children(argument, 'params')
  return name === 'Pick' || name === 'Omit' ? typeNameOf(first) : name
}

interface Place {
  readonly file: SourceFile
  readonly owner: string | null
  readonly funcs: Func[]
}

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** Whether a node is a function. */
export const isFunc = ({ type }: Syntax): boolean => functions.has(type)

/** Collects the functions below a node, with the names that they are called by. */
const collect = (node: Syntax, { file, owner, funcs }: Place): void => {
  const inside = node.type === 'ClassDeclaration' ? nameOf(child(node, 'id')) : owner
  const add = (name: string, value: Syntax | undefined, at: number, of = owner): void => {
    if (value !== undefined && isFunc(value)) funcs.push({ file, owner: of, name, node: value, at })
  }
  if (node.type === 'FunctionDeclaration') add(nameOf(child(node, 'id')), node, node.start, null)
  if (node.type === 'MethodDefinition') add(nameOf(child(node, 'key')), child(node, 'value'), node.start)
  if (node.type === 'PropertyDefinition') add(nameOf(child(node, 'key')), child(node, 'value'), node.start)
  if (node.type === 'VariableDeclarator') add(nameOf(child(node, 'id')), child(node, 'init'), node.start, null)
  if (node.type === 'Property') add(nameOf(child(node, 'key')), child(node, 'value'), node.start, null)
  for (const each of within(node)) collect(each, { file, owner: inside, funcs })
}
