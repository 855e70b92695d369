import { describe, expect, it } from 'vitest'
import { climbingImportFindings } from '#scripts/check/climbing-imports.ts'
import { componentFindings, componentGraph, componentOf, drawn } from '#scripts/check/components.ts'
import { folderSizeFindings } from '#scripts/check/folder-size.ts'

const file = (path: string, ...imports: readonly string[]) => ({
  path,
  text: imports.map((target) => `import { a } from '${target}'\n`).join(''),
})
const messages = (...files: readonly ReturnType<typeof file>[]) =>
  componentFindings(componentGraph(files)).map(({ path, message }) => `${path}: ${message}`)

describe('components', () => {
  it.each([
    ['src/actors/webhooks/kinds.ts', 'actors/webhooks'],
    ['src/gateway/providers/google/google-model.ts', 'gateway/providers'],
    ['src/storage/mongo/leases.ts', 'storage'],
    ['src/config.ts', 'config'],
    ['src/main.ts', 'main'],
    ['specs/errors/errors.ts', 'specs'],
    ['test/config.test.ts', null],
  ])('%s belongs to %s', (path, component) => {
    expect(componentOf(path)).toBe(component)
  })

  it('that import each other are refused, with the imports', () => {
    expect(
      messages(
        file('src/gateway/prices/a.ts', '../call/b.ts'),
        file('src/gateway/call/b.ts', '../prices/a.ts'),
        file('src/gateway/apis/c.ts', '../call/b.ts'),
      ),
    ).toEqual([
      'src/gateway/prices/a.ts: closes a cycle of components: gateway/prices -> gateway/call (src/gateway/call/b.ts)',
      'src/gateway/call/b.ts: closes a cycle of components: gateway/call -> gateway/prices (src/gateway/prices/a.ts)',
    ])
  })

  it('in a cycle of three are refused', () => {
    const found = messages(
      file('src/gateway/a/a.ts', '../b/b.ts'),
      file('src/gateway/b/b.ts', '../c/c.ts'),
      file('src/gateway/c/c.ts', '../a/a.ts'),
    )
    expect(found).toHaveLength(3)
  })

  it('with an unlisted import between capabilities are refused', () => {
    expect(messages(file('src/actors/webhooks/a.ts', '../runs/b.ts'), file('src/actors/runs/b.ts'))).toEqual([
      'src/actors/webhooks/a.ts: a new arrow between capabilities: actors/webhooks -> actors/runs (src/actors/runs/b.ts)',
    ])
  })

  it('without a cycle are accepted and printed, the lowest first', () => {
    const graph = componentGraph([
      file('src/gateway/call/b.ts', '../prices/a.ts', '../../../specs/errors/errors.ts'),
      file('src/gateway/prices/a.ts', '../../../specs/errors/errors.ts'),
      file('specs/errors/errors.ts'),
    ])
    expect(componentFindings(graph)).toEqual([])
    expect(drawn(graph)).toEqual([
      'specs -> nothing',
      'gateway/prices -> specs',
      'gateway/call -> gateway/prices, specs',
    ])
  })
})

describe('sizes of folders', () => {
  const files = (count: number) => Array.from({ length: count }, (_, n) => file(`src/actors/things/f${n}.ts`))

  it('above 25 files are refused', () => {
    expect(folderSizeFindings(files(25))).toEqual([])
    expect(folderSizeFindings(files(26))).toMatchObject([{ path: 'src/actors/things' }])
  })
})

describe('imports', () => {
  const found = (specifier: string) =>
    climbingImportFindings([file('src/actors/runs/a.ts', specifier)]).map(({ message }) => message)

  it('that climb two folders or more are refused', () => {
    expect(found('../../storage/ports.ts')).toHaveLength(1)
  })

  it('of a sibling folder, by an alias or of a package are accepted', () => {
    expect([...found('../records/table.ts'), ...found('#storage/ports.ts'), ...found('xstate')]).toEqual([])
  })

  it('by an alias count as dependencies of their component', () => {
    expect(messages(file('src/actors/webhooks/a.ts', '#actors/runs/b.ts'), file('src/actors/runs/b.ts'))).toEqual([
      'src/actors/webhooks/a.ts: a new arrow between capabilities: actors/webhooks -> actors/runs (src/actors/runs/b.ts)',
    ])
  })
})
