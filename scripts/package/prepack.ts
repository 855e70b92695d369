import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { readCommandLine } from '#src/start/command-line.ts'
import { noticesOf } from './notices.ts'
import { packedManifest } from './packed-manifest.ts'
import { bundleProduct, codeOf } from './product-bundle.ts'
import { keptManifest } from './put-back.js'

/*
 * `prepack`: bundles the product into `dist`, since Node strips no types under node_modules, and puts the package's own
 * package.json in place, until `postpack` (specs/decisions/0328-the-product-as-one-package.md).
 */
readCommandLine({
  usage: 'usage: npm pack\n\nMakes the package of the product: the server and the commands of troupe, as JavaScript.',
  options: {},
})

const root = resolve(import.meta.dirname, '../..')
const dist = join(root, 'dist')
const manifest = join(root, 'package.json')

/** Files that the server and `troupe` read or run as they are. */
const copied = [
  ...['bin/troupe.js', 'src/start/require-node.js', 'src/start/commands.js'],
  ...[
    'console',
    'docs',
    'specs/openapi.json',
    'specs/asyncapi.json',
    'specs/data/prices.json',
    'specs/logos',
    'NOTICE',
  ],
]

const bundle = async (): Promise<void> => {
  rmSync(dist, { recursive: true, force: true })
  const { entries, packages } = await bundleProduct(root, dist)
  for (const entry of entries) writeEntry(entry)
  for (const path of copied) cpSync(join(root, path), join(dist, path), { recursive: true })
  writeFileSync(join(dist, 'THIRD-PARTY-NOTICES'), noticesOf(packages))
  for (const path of globSync('console/**/*.ts', { cwd: dist })) withoutTypes(join(dist, path))
}

/** Puts the JavaScript of `x.ts` into `x.ts.js`, which the server serves as `x.ts` (src/transport/static-files.ts). */
const withoutTypes = (file: string): void => {
  const code = stripTypeScriptTypes(readFileSync(file, 'utf8'))
  rmSync(file)
  if (!file.endsWith('.d.ts')) writeFileSync(`${file}.js`, code.replaceAll(/[ \t]+$/gm, ''))
}

/** Each entry is at the place of its source, and imports its code. */
const writeEntry = (entry: string): void => {
  const file = join(dist, entry.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `export * from '${relative(dirname(file), join(dist, codeOf(entry)))}'\n`)
}

await bundle()
mkdirSync(dirname(keptManifest), { recursive: true })
copyFileSync(manifest, keptManifest)
writeFileSync(manifest, `${JSON.stringify(packedManifest(JSON.parse(readFileSync(manifest, 'utf8'))), null, 2)}\n`)
