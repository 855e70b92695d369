import { describe, expect, it } from 'vitest'
import type { SourceFile } from '#scripts/check/source-files.ts'
import {
  citationFindings,
  emptyCommentFindings,
  nameWordFindings,
  privateWordFindings,
} from '#scripts/check/word-list.ts'

const file = (path: string, text: string): SourceFile => ({ path, text })
const lines = (found: readonly { readonly line: number }[]) => found.map(({ line }) => line)

describe('private words', () => {
  it.each([
    ['a function', 'src/a.ts', 'host.tell(actor)\n'],
    ['a part of a name', 'src/a.ts', 'const lastAskedAt = 1\n'],
    ['a constant', 'src/a.ts', 'const WHO_TOLD = 1\n'],
    ['a type', 'src/a.ts', 'export interface Posts {}\n'],
    ['a comment', 'src/a.ts', '// nobody reads it\n'],
    ['a docstring', 'specs/a.ts', '/** What callers are told. */\n'],
    ['a sentence of a page', 'docs/a.md', 'The server asks the model.\n'],
  ])('are found in %s', (_, path, text) => {
    expect(lines(privateWordFindings(file(path, `\n${text}`)))).toEqual([2])
  })

  it.each([
    ['a text', 'src/a.ts', "const a = 'nobody asked'\n"],
    ['a template', 'src/a.ts', 'const a = `nobody asked`\n'],
    ['a longer word', 'src/a.ts', 'const task = intelligence(mask)\n'],
    ['a type word in a comment', 'src/a.ts', '// Order of the rows\n'],
    ['a field of the wire', 'specs/a.ts', 'const line = { asked_model: string() }\n'],
    ['code of a page', 'docs/a.md', 'The field `asked_model`.\n```sh\necho nobody\n```\n'],
  ])('are ignored in %s', (_, path, text) => {
    expect(privateWordFindings(file(path, text))).toEqual([])
  })
})

describe('a private word that is a stored or transmitted name', () => {
  it.each([
    ['src/machines/run/a.ts', 'asked'],
    ['src/machines/run/a.ts', 'told'],
    ['src/actors/runs/run-conversation.ts', 'told'],
    ['src/gateway/ledger/a.ts', 'asked'],
    ['src/transport/peers/a.ts', 'ask'],
    ['src/transport/peers/a.ts', 'told'],
  ])('is accepted in %s: %s', (path, name) => {
    expect(privateWordFindings(file(path, `const line = { ${name}: 1 }\n`))).toEqual([])
  })

  it.each([
    ['in another folder', 'src/machines/session/a.ts', 'const line = { asked: 1 }\n'],
    ['where only another name is kept', 'src/gateway/ledger/a.ts', 'const line = { told: 1 }\n'],
    ['as a part of a longer name', 'src/machines/run/a.ts', 'const toldOnce = 1\n'],
    ['in another form', 'src/transport/peers/a.ts', 'const line = { asks: 1 }\n'],
    ['in a comment', 'src/machines/run/a.ts', '// the caller is told of it\n'],
    ['in a docstring', 'src/machines/run/a.ts', '/** What the model asked for. */\n'],
  ])('is found %s', (_, path, text) => {
    expect(lines(privateWordFindings(file(path, `\n${text}`)))).toEqual([2])
  })
})

describe('names with a word for which the field has another', () => {
  it.each([
    ['a constant', 'src/a.ts', 'const mostBytes = 1\n'],
    ['a parameter', 'packages/client/src/a.ts', 'const wait = (seat: number) => 1\n'],
    ['a private field', 'console/a.ts', 'class A { #lookAgain = 1 }\n'],
    ['a type', 'specs/a.ts', 'export interface PageRooms {}\n'],
  ])('are found: %s', (_, path, text) => {
    expect(lines(nameWordFindings(file(path, `\n${text}`)))).toEqual([2])
  })

  it('are found in a path', () => {
    expect(lines(nameWordFindings(file('src/parsing/page-rooms.ts', 'const a = 1\n')))).toEqual([1])
  })

  it.each([
    ['prose', 'src/a.ts', '// at most two, looked up\nconst a = "the most"\n'],
    ['a pattern', 'src/a.ts', 'const a = /most|said/u.test(b)\n'],
    ['a bound of a measurement', 'src/a.ts', 'const a = { atMost: 1 }\n'],
    ['a stored field', 'src/a.ts', 'const a = { targets_apart: true }\n'],
    ['a message between nodes', 'src/transport/peers/schema.ts', 'const a = { said: 1 }\n'],
    ['a test', 'test/a.test.ts', 'const said = 1\n'],
  ])('are accepted: %s', (_, path, text) => {
    expect(nameWordFindings(file(path, text))).toEqual([])
  })
})

describe('citations', () => {
  it.each([
    'interface "Run"',
    'interface-additions "Streams"',
    'interface additions "x"',
    'DESIGN "Effects"',
    'see HOUSE.md',
  ])('of pages that the repository does not contain are found: %s', (text) => {
    expect(lines(citationFindings(file('src/a.ts', `/**\n * A run (${text}).\n */`)))).toEqual([2])
  })

  it('of operations, codes, decisions and pages are accepted', () => {
    const text = '// runs.create, not_found, specs/decisions/0071-runs.md, ARCHITECTURE.md, export interface Run {}'
    expect(citationFindings(file('src/a.ts', text))).toEqual([])
  })
})

describe('empty comments', () => {
  it('are those of the form "What X stand on"', () => {
    const text =
      'x\n/** What the session use-cases stand on. */\n/** What a run needs. */\n/** What a node is made of. */\n/** What a run costs. */\n'
    expect(lines(emptyCommentFindings(file('src/a.ts', text)))).toEqual([2, 3, 4])
  })
})
