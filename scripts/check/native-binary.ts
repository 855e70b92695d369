import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file of a package that is native code or loads it, and its recorded SHA-256. */
export interface RecordedBinary {
  readonly package: string
  readonly version: string
  readonly files: Readonly<Record<string, string>>
}

/** The native HTTP server (specs/decisions/0155-what-is-trusted.md). */
export const nativeServer: RecordedBinary = {
  package: 'uWebSockets.js',
  version: '20.51.4',
  files: {
    'uws.node': 'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
    'index.js': '9e8c455f5b6fe80471b8d29b196f21ce1ebe8fd0384bba9604b6b0343c32374f',
  },
}

/** The runtime of sentence models on Linux x86-64 (specs/decisions/0260-embedder-in-the-box.md). */
export const modelRuntime: RecordedBinary = {
  package: 'onnxruntime-node',
  version: '1.16.3',
  files: {
    'bin/napi-v3/linux/x64/onnxruntime_binding.node':
      '2ad8a142bdf74c5b9cdb49982c06d29fda044e61d1929bad7fdf0f3551dae8d2',
    'bin/napi-v3/linux/x64/libonnxruntime.so.1.16.3':
      'ce3752ba35018ee6d8127ff4cba955b68b9c8b8b0fed8798a8f2e5c4c5a35fa5',
    'dist/binding.js': 'db8ad92079741a4943893eeaf5b577fd057bac27d043035bebd819635cf75e23',
  },
}

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
