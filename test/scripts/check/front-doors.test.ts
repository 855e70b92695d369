import { describe, expect, it } from 'vitest'
import { frontDoorFindings } from '#scripts/check/front-doors.ts'

const messages = (path: string, text: string) =>
  frontDoorFindings([{ path, text }]).map(({ line, message }) => `${line}: ${message}`)

describe('front doors', () => {
  it.each([
    ['the runtime uses specs', 'src/actors/runtime/a.ts', "import { b } from '#specs/b.ts'"],
    ['the runtime uses a capability, for types', 'src/actors/runtime/a.ts', "import type { B } from '../call/b.ts'"],
    ['a store uses telemetry', 'src/storage/mongo/a.ts', "import { b } from '#telemetry/b.ts'"],
    ['the vocabulary uses a machine', 'src/machines/vocabulary.ts', "import { b } from './run/run.ts'"],
    ['a definition uses the product’s vocabulary', 'src/machines/definition.ts', "import { b } from './declared.ts'"],
    ['a capability uses a file of the runtime', 'src/actors/runs/a.ts', "import { b } from '#runtime/host.ts'"],
    ['a capability uses a port’s file', 'src/actors/runs/a.ts', "import type { B } from '#storage/ports.ts'"],
    ['a machine uses a shared file', 'src/machines/run/a.ts', "import { b } from '../definition.ts'"],
    ['a file uses the facts', 'src/actors/memory/a.ts', "import { b } from '#facts/rules/b.ts'"],
    ['a file uses retrieval, when it runs', 'src/main.ts', "const b = await import('./retrieval/b.ts')"],
    ['a file uses the scan', 'src/actors/skills/a.ts', "export { b } from '#src/skill-scan/b.ts'"],
  ])('are passed by when %s', (_, path, text) => {
    expect(messages(path, text)).toHaveLength(1)
  })

  it.each([
    ['the runtime uses storage', 'src/actors/runtime/a.ts', "import { b } from '#storage/ports.ts'"],
    ['the runtime uses a package', 'src/actors/runtime/a.ts', "import { b } from 'xstate'"],
    ['a capability uses the entries', 'src/actors/runs/a.ts', "import { b } from '#runtime/index.ts'"],
    ['the server goes deeper', 'src/actors/open-actors.ts', "import { b } from '#runtime/internal.ts'"],
    ['a machine uses the vocabulary', 'src/machines/run/a.ts', "import { b } from '../index.ts'"],
    ['a machine uses the product’s vocabulary', 'src/machines/run/a.ts', "import { b } from '../declared.ts'"],
    ['a store is opened', 'src/open-storage.ts', "import('./storage/mongo/open-mongo-storage.ts')"],
    ['Redis is opened', 'src/open-storage.ts', "import('./storage/redis/open-redis.ts')"],
    ['facts use facts', 'src/facts/a.ts', "import { b } from './rules/b.ts'"],
  ])('are used when %s', (_, path, text) => {
    expect(messages(path, text)).toEqual([])
  })
})
