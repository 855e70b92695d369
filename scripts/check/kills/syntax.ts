import { parseAst } from 'rolldown/parseAst'
import type { SourceFile } from '../source-files.ts'

/** A node of a syntax tree in ESTree form, with its fields unread. */
export type Syntax = { readonly type: string; readonly start: number; readonly end: number }

/** Returns the syntax tree of a TypeScript file. */
export const syntaxOf = ({ path, text }: SourceFile): Syntax => nodeOf(parseAst(text, { lang: 'ts' }, path)) ?? nothing

const nothing: Syntax = { type: 'Program', start: 0, end: 0 }

const nodeOf = (value: unknown): Syntax | undefined => (isNode(value) ? value : undefined)

const isNode = (value: unknown): value is Syntax =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string'

/** Returns a field that holds a node; undefined when it holds none. */
export const child = (node: Syntax | undefined, field: string): Syntax | undefined =>
  node === undefined ? undefined : nodeOf(Reflect.get(node, field))

/** Returns a field that holds several nodes; without holes. */
export const children = (node: Syntax, field: string): readonly Syntax[] => {
  const value: unknown = Reflect.get(node, field)
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** Returns a field that holds a text; '' when it holds none. */
export const textIn = (node: Syntax | undefined, field: string): string => {
  const value: unknown = node === undefined ? undefined : Reflect.get(node, field)
  return typeof value === 'string' ? value : ''
}

/** Returns all nodes within a node, in the order of the text. */
export const within = (node: Syntax): readonly Syntax[] => {
  const nodes: Syntax[] = []
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) nodes.push(...value.filter(isNode))
    else if (isNode(value)) nodes.push(value)
  }
  return nodes.sort((a, b) => a.start - b.start)
}

/** Calls `visit` for a node and all below it, parents first. */
export const walk = (node: Syntax, visit: (node: Syntax) => void): void => {
  visit(node)
  for (const each of within(node)) walk(each, visit)
}

/** Returns the name of an identifier, a private or plain property, or a text used as a key; '' for anything else. */
export const nameOf = (node: Syntax | undefined): string => {
  if (node === undefined) return ''
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return textIn(node, 'name')
  if (node.type === 'Literal') return textIn(node, 'value')
  if (node.type === 'MemberExpression') return nameOf(child(node, 'property'))
  if (node.type === 'ThisExpression') return 'this'
  return ''
}
