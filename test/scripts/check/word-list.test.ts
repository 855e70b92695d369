import { describe, expect, it } from 'vitest'
import { countsOf, lowered, ratchetFindings } from '#scripts/check/ratchet.ts'
import type { SourceFile } from '#scripts/check/source-files.ts'
import { citationFindings, emptyCommentFindings, privateWordFindings } from '#scripts/check/word-list.ts'

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
  ])('are not looked for in %s', (_, path, text) => {
    expect(privateWordFindings(file(path, text))).toEqual([])
  })
})

describe('citations', () => {
  it.each([
    'interface "Run"',
    'interface-additions "Streams"',
    'interface additions "x"',
    'DESIGN "Effects"',
    'see HOUSE.md',
  ])('of a page that the repository does not contain are found: %s', (text) => {
    expect(lines(citationFindings(file('src/a.ts', `/**\n * A run (${text}).\n */`)))).toEqual([2])
  })

  it('of operations, codes, decisions and pages stand', () => {
    const text = '// runs.create, not_found, specs/decisions/0071-runs.md, ARCHITECTURE.md, export interface Run {}'
    expect(citationFindings(file('src/a.ts', text))).toEqual([])
  })
})

describe('empty comments', () => {
  it('are those that say what something stands on', () => {
    const text =
      'x\n/** What the session use-cases stand on. */\n/** What a run stands on. */\n/** What a run costs. */\n'
    expect(lines(emptyCommentFindings(file('src/a.ts', text)))).toEqual([2, 3])
  })
})

describe('the ratchet', () => {
  const files = [
    file('src/gateway/call/a.ts', 'ask()\nask()\n'),
    file('src/actors/runs/b/c.ts', 'ask()\n'),
    file('src/main.ts', 'ask()\n'),
  ]
  const counts = { src: 1, 'src/actors/runs': 1, 'src/gateway': 2 }

  it('counts by folder', () => {
    expect(countsOf(files.flatMap(privateWordFindings))).toEqual(counts)
  })

  it('reports a folder that has more than before, with every place in it', () => {
    expect(ratchetFindings(privateWordFindings, files, counts)).toEqual([])
    const grown = ratchetFindings(privateWordFindings, [...files, file('src/actors/runs/d.ts', 'tell()\n')], counts)
    expect(grown.map(({ path }) => path)).toEqual(['src/actors/runs/b/c.ts', 'src/actors/runs/d.ts'])
  })

  it('reports a folder that had none', () => {
    const found = ratchetFindings(privateWordFindings, [...files, file('specs/a.ts', '// told\n')], counts)
    expect(found.map(({ path }) => path)).toEqual(['specs/a.ts'])
  })

  it('lets files move between folders', () => {
    const moved = files.map(({ path, text }) => file(path.replace('src/gateway', 'src/outgoing'), text))
    expect(ratchetFindings(privateWordFindings, moved, counts)).toEqual([])
  })

  it('is only ever lowered', () => {
    expect(lowered({ words: counts }, { words: { src: 2 } })).toEqual({ words: { src: 2 } })
    expect(lowered({ words: counts }, { words: { src: 9 } })).toEqual({ words: counts })
  })
})
