import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { docstringFindings } from '#scripts/check/docstrings.ts'
import { fileLengthFindings } from '#scripts/check/file-length.ts'
import { layerFindings } from '#scripts/check/layers.ts'
import { namedPathFindings } from '#scripts/check/named-paths.ts'
import { namingFindings } from '#scripts/check/naming.ts'
import { type Finding, readFiles } from '#scripts/check/source-files.ts'

const lines = (findings: readonly Finding[]) => findings.map(({ line }) => line)

describe('lengths of files', () => {
  const findings = (count: number) => fileLengthFindings([{ path: 'src/a.ts', text: 'x\n'.repeat(count) }])

  it('are limited to 400 lines', () => {
    expect(findings(400)).toEqual([])
    expect(findings(401)).toMatchObject([{ path: 'src/a.ts', line: 401 }])
  })
})

describe('layers', () => {
  const findings = (path: string, text: string) => layerFindings([{ path, text }])

  it.each([
    ['specs see machines', 'specs/a.ts', "import { b } from '../src/machines/b.ts'"],
    ['machines see storage', 'src/machines/a.ts', "import type { B } from '../storage/ports.ts'"],
    ['machines see node', 'src/machines/a.ts', "import { b } from 'node:fs'"],
    ['machines see a package that is not pure', 'src/machines/a.ts', "import { b } from 'undici'"],
    ['storage sees actors', 'src/storage/ports.ts', "import { b } from '../actors/b.ts'"],
    ['actors see transport', 'src/actors/a.ts', "import type { B } from '../transport/http-port.ts'"],
    ['transport sees main', 'src/transport/a.ts', "import { b } from '../main.ts'"],
    ['actors choose a store', 'src/actors/a.ts', "import { b } from '../storage/mongo/b.ts'"],
    ['one store uses another', 'src/storage/mongo/a.ts', "import { b } from '../sqlite/b.ts'"],
    ['actors see the mongodb driver', 'src/actors/a.ts', "import { b } from 'mongodb'"],
    ['actors see SQLite', 'src/actors/a.ts', "import { b } from 'node:sqlite'"],
    ['actors see Redis', 'src/actors/a.ts', "import { b } from 'ioredis'"],
    ['actors see redis-om', 'src/actors/a.ts', "import { b } from 'redis-om'"],
    [
      'another file of the Redis adapter sees redis-om',
      'src/storage/redis/presence.ts',
      "import { b } from 'redis-om'",
    ],
    ['another file of the Redis adapter sees its client', 'src/storage/redis/limits.ts', "import { b } from 'redis'"],
    ['a second store of process state appears', 'src/actors/a.ts', "import { b } from '@xstate/store'"],
    ['actors see the HTTP server', 'src/actors/a.ts', "import b from 'uWebSockets.js'"],
    ['the product sees tests', 'src/actors/a.ts', "import { b } from '../../test/b.ts'"],
    ['an import over several lines', 'src/actors/a.ts', "import {\n  b,\n  c,\n} from '../transport/b.ts'"],
    ['an export from', 'src/actors/a.ts', "export { b } from '../transport/b.ts'"],
    ['a dynamic import', 'src/actors/a.ts', "const b = await import('../transport/b.ts')"],
    ['an import for its effect', 'src/actors/a.ts', "import '../transport/b.ts'"],
  ])('are broken when %s', (_, path, text) => {
    expect(findings(path, text)).toHaveLength(1)
  })

  it.each([
    [
      'machines see specs and xstate',
      'src/machines/a.ts',
      "import { b } from '../../specs/b.ts'\nimport { c } from 'xstate'",
    ],
    ['actors see machines', 'src/actors/a.ts', "import { b } from '../machines/b.ts'"],
    ['transport sees actors', 'src/transport/a.ts', "import { b } from '../actors/sessions/b.ts'"],
    ['open-storage sees the stores', 'src/open-storage.ts', "import { b } from './storage/mongo/b.ts'"],
    ['a store sees its driver', 'src/storage/mongo/a.ts', "import { b } from 'mongodb'"],
    ['the schemas of Redis see redis-om', 'src/storage/redis/schema.ts', "import { c } from 'redis-om'"],
    ['the state of the process is a store', 'src/transport/process-state.ts', "import { b } from '@xstate/store'"],
    ['a text speaks of an import', 'src/actors/a.ts', "/** Never import { b } from '../transport/b.ts'. */"],
  ])('hold when %s', (_, path, text) => {
    expect(findings(path, text)).toEqual([])
  })

  it('hold in the product', () => {
    expect(layerFindings(readFiles('.', ['specs', 'src'], ['.ts']))).toEqual([])
  })

  it('are reported with the line of the import', () => {
    expect(
      lines(findings('src/actors/a.ts', "import { a } from './a.ts'\n\nimport { b } from '../transport/b.ts'")),
    ).toEqual([3])
  })
})

describe('names', () => {
  it.each(['src/utils.ts', 'src/actors/util/a.ts', 'test/helpers/a.ts', 'src/session-manager.ts', 'specs/common.ts'])(
    'refuse %s',
    (path) => {
      expect(namingFindings([{ path, text: '' }])).toHaveLength(1)
    },
  )

  it('allow words that only contain a vague one', () => {
    expect(namingFindings([{ path: 'src/actors/commonmark.ts', text: '' }])).toEqual([])
  })
})

describe('docstrings', () => {
  const text =
    '/** Says what. */\nexport const a = 1\n\nexport const b = 2\nexport async function c() {}\nexport interface D {}\n'

  it.each(['src/machines/a.ts', 'specs/resources/a.ts', 'src/storage/ports.ts'])(
    'are required on exports of %s',
    (path) => {
      expect(lines(docstringFindings([{ path, text }]))).toEqual([4, 5, 6])
    },
  )

  it('are required once for overloads', () => {
    const overloads = '/** Says what. */\nexport function a(b: 1): 1\nexport function a(b: 2): 2\n'
    expect(docstringFindings([{ path: 'specs/a.ts', text: overloads }])).toEqual([])
  })

  it('are not required elsewhere', () => {
    expect(docstringFindings([{ path: 'src/actors/a.ts', text }])).toEqual([])
  })
})

describe('named paths', () => {
  const root = mkdtempSync(join(tmpdir(), 'troupe-paths-'))
  mkdirSync(join(root, 'specs/decisions'), { recursive: true })
  writeFileSync(join(root, 'specs/decisions/0001-a.md'), '')
  afterAll(() => rmSync(root, { recursive: true }))
  const findings = (path: string, text: string) => namedPathFindings(root, [{ path, text }])

  it.each([
    ['in code marks', 'See `src/gone.ts`.'],
    ['in a sentence', 'See src/gone/x.ts.'],
    ['in a link', 'See [this](gone.md#part).'],
    ['as a pattern', 'See specs/*/gone.ts.'],
    ['of a decision', 'See specs/decisions/0002.'],
  ])('are reported when missing, %s', (_, text) => {
    expect(findings('README.md', `First line\n${text}`)).toMatchObject([{ line: 2 }])
  })

  it.each([
    '[a](specs/decisions/0001-a.md)',
    'specs/decisions/0001',
    '`specs/decisions/<number>-a.md`',
    'https://a.test/src/b.ts',
  ])('are accepted: %s', (text) => {
    expect(findings('README.md', text)).toEqual([])
  })

  it('are checked in code only for decisions', () => {
    expect(findings('src/a.ts', '// specs/decisions/0009-gone.md, src/example.ts')).toHaveLength(1)
  })
})

describe('source files', () => {
  it('are read recursively by extension, and a missing folder is skipped', () => {
    const root = mkdtempSync(join(tmpdir(), 'troupe-files-'))
    mkdirSync(join(root, 'src/a'), { recursive: true })
    writeFileSync(join(root, 'src/a/b.ts'), 'text')
    writeFileSync(join(root, 'src/a/b.json'), '{}')
    expect(readFiles(root, ['src', 'gone'], ['.ts'])).toEqual([{ path: 'src/a/b.ts', text: 'text' }])
    rmSync(root, { recursive: true })
  })
})
