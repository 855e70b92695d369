import { importsOf } from './imports.ts'
import type { Finding, SourceFile } from './source-files.ts'

/**
 * Layers from the bottom up: a file may import from its own layer and from those below it (ARCHITECTURE.md, "Layers").
 */
const layers: readonly { readonly name: string; readonly holds: RegExp }[] = [
  { name: 'specs', holds: /^specs\// },
  { name: 'facts', holds: /^src\/facts\// },
  { name: 'machines', holds: /^src\/machines\// },
  { name: 'concurrency', holds: /^src\/concurrency\// },
  { name: 'storage/ports', holds: /^src\/storage\/|^src\/[^/]+\.ts$/ },
  { name: 'telemetry', holds: /^src\/telemetry\// },
  { name: 'outgoing', holds: /^src\/outgoing\// },
  { name: 'tool server', holds: /^src\/tool-server\// },
  { name: 'scans', holds: /^src\/skill-scan\// },
  { name: 'pages', holds: /^src\/pages\// },
  { name: 'parsing', holds: /^src\/parsing\// },
  { name: 'retrieval', holds: /^src\/retrieval\// },
  { name: 'actors and gateway', holds: /^src\/(actors|gateway)\// },
  { name: 'transport', holds: /^src\/transport\// },
  { name: 'main', holds: /^src\/(main|await-store|open-cluster|open-embedders|open-installation|start-failure)\.ts$/ },
]

/** Folders and packages that only some files may import; each is a replaceable part behind a port. */
const reserved: readonly { readonly what: RegExp; readonly by: RegExp; readonly rule: string }[] = [
  ...['mongo', 'sqlite', 'memory', 'redis', 'lance'].map((adapter) => ({
    what: new RegExp(`^src/storage/${adapter}/`),
    by: new RegExp(
      `^src/(open-storage\\.ts$|storage/${adapter}/${adapter === 'sqlite' ? '|actors/runtime/open/' : ''})`,
    ),
    rule: 'only src/open-storage.ts chooses a store',
  })),
  { what: /^mongodb$/, by: /^src\/storage\/mongo\//, rule: 'MongoDB stays behind src/storage/ports.ts' },
  { what: /^node:sqlite$/, by: /^src\/storage\/sqlite\//, rule: 'SQLite stays behind src/storage/ports.ts' },
  { what: /^ioredis$/, by: /^src\/storage\/redis\//, rule: 'Redis stays behind a port' },
  {
    what: /^(redis|redis-om|@redis\/.+)$/,
    by: /^src\/storage\/redis\/schema\.ts$/,
    rule: 'redis-om stays in schema.ts, over our own connection',
  },
  {
    what: /^@xstate\/store$/,
    by: /^src\/transport\/process-state\.ts$/,
    rule: 'the state of a process is one store, everything else is an actor',
  },
  { what: /^uWebSockets\.js$/, by: /^src\/transport\//, rule: 'the HTTP server stays behind http-port.ts' },
]

/** Packages that a machine may import: they neither do I/O nor read the clock. */
const purePackage = /^(xstate|decimal\.js)$/

/** Finds imports in specs/ and src/ from a higher layer, around a port, or from outside the product. */
export function layerFindings(files: readonly SourceFile[]): readonly Finding[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap(({ target, line }) => {
      const message = refusal(file.path, target)
      return message === null ? [] : [{ path: file.path, line, message }]
    }),
  )
}

function refusal(from: string, target: string): string | null {
  const own = layerOf(from)
  if (own === -1) return null
  const other = layerOf(target)
  if (other > own) return `${nameOf(own)} may not import ${nameOf(other)} (${target})`
  if (/^(scripts|bench|test)\//.test(target)) return `the product may not import ${target}`
  if (own === layerOf('src/machines/') && other === -1 && !purePackage.test(target))
    return `machines are pure and may not import ${target}`
  const broken = reserved.find(({ what, by }) => what.test(target) && !by.test(from))
  return broken === undefined ? null : `may not import ${target}: ${broken.rule}`
}

/** Index of the highest layer that contains the path, so that src/main.ts is in `main`; -1 for none. */
const layerOf = (path: string): number => layers.findLastIndex(({ holds }) => holds.test(path))

const nameOf = (layer: number): string => layers[layer]?.name ?? ''
