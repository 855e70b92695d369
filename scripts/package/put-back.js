import { existsSync, renameSync } from 'node:fs'
import { join, resolve } from 'node:path'

/*
 * `postpack`: puts the project's package.json back, which `prepack` has replaced by the package's. It is JavaScript without
 * imports of sources, since their aliases are in the file that is away.
 */
const root = resolve(import.meta.dirname, '../..')

/** Where the project's package.json is while npm packs. */
export const keptManifest = join(root, '.cache/package.json')

if (existsSync(keptManifest)) renameSync(keptManifest, join(root, 'package.json'))
