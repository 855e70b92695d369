import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import recorded from '../install/recorded-binaries.json' with { type: 'json' }

/** A file of a package that is native code or loads it, and its recorded SHA-256. */
export interface RecordedBinary {
  readonly package: string
  readonly version: string
  readonly files: Readonly<Record<string, string>>
}

/** The native HTTP server (specs/decisions/0155-what-is-trusted.md). */
export const nativeServer: RecordedBinary = { package: 'uWebSockets.js', ...recorded['uWebSockets.js'] }

/** The runtime of sentence models on Linux x86-64 (specs/decisions/0260-embedder-in-the-box.md). */
export const modelRuntime: RecordedBinary = { package: 'onnxruntime-node', ...recorded['onnxruntime-node'] }

/**
 * Returns how an installed binary differs from the recorded one, one sentence per difference; empty when it is not
 * installed.
 */
export const binaryFindings = (modules: string, recorded: RecordedBinary): readonly string[] => {
  const folder = join(modules, recorded.package)
  if (!existsSync(folder)) return []
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const name = `${recorded.package} ${recorded.version}`
  const other = version === recorded.version ? [] : [`${name} is recorded, and ${version} is installed`]
  const changed = Object.entries(recorded.files).filter(([file, hash]) => hashOf(join(folder, file)) !== hash)
  return [...other, ...changed.map(([file]) => `${file} of ${name} is not the file that was recorded`)]
}

const hashOf = (path: string): string | null =>
  existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : null
