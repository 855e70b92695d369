import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * `prepack` of each package: declares the types of all (packages/tsconfig.json), removes the types from its sources, and
 * writes the files of this package as `dist`, with the paths that they have in the project. An import of a file that
 * another package holds names that package, so that there is one copy of each class. Development has no such step.
 */
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const name = posix.basename(process.cwd())

/** The package that holds a file. */
const packageOf = (/** @type {string} */ path) => {
  if (path.startsWith('src/storage/mongo/')) return 'runtime-mongo'
  if (path.startsWith('src/storage/redis/')) return 'runtime-redis'
  const [, own] = /^packages\/(client|react)\//.exec(path) ?? []
  if (own !== undefined) return own
  return path.startsWith('test/') ? 'storage-testkit' : 'runtime'
}

/** Folders of the aliases of the project's package.json. @type {[string, string][]} */
const aliases = Object.entries(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).imports).map(
  ([alias, target]) => [alias.replace('*', ''), posix.normalize(String(target).replace('*', ''))],
)

/** Returns a specifier as the packed file needs it. */
const specifierIn = (/** @type {string} */ from, /** @type {string} */ specifier) => {
  const [alias, folder] = aliases.find(([start]) => specifier.startsWith(start)) ?? []
  if (alias === undefined && !specifier.startsWith('.')) return specifier
  const source =
    alias === undefined ? posix.join(posix.dirname(from), specifier) : `${folder}${specifier.slice(alias.length)}`
  const target = source.replace(/(\.d)?\.ts$/, '.js')
  const holder = packageOf(target)
  // a package whose sources are its own is entered by its index, or by the entry that is a file of its own
  const [, entry = target] = /^packages\/\w+\/src\/(\w+)\.js$/.exec(target) ?? []
  if (holder !== packageOf(from)) return `@troupe/${holder}${entry === 'index' ? '' : `/${entry}`}`
  const path = posix.relative(posix.dirname(from), target)
  return path.startsWith('.') ? path : `./${path}`
}

const imports = /(\bfrom\s+|\bimport\(\s*|^import\s+)(['"])([^'"]+)\2/gm

/** Writes a file of the package. */
const write = (/** @type {string} */ path, /** @type {string} */ text) => {
  mkdirSync(dirname(join('dist', path)), { recursive: true })
  writeFileSync(
    join('dist', path),
    text.replace(imports, (_, before, quote, specifier) => before + quote + specifierIn(path, specifier) + quote),
  )
}

/** Declarations of all packages, which the next one reuses. */
const out = join(root, 'node_modules/.cache/packages')
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const project = ['-p', join(root, 'packages/tsconfig.json'), '--outDir', out]
const cache = ['--incremental', '--tsBuildInfoFile', join(out, 'tsbuildinfo')]
const run = spawnSync(process.execPath, [compiler, ...project, ...cache], { encoding: 'utf8' })
if (run.status !== 0) throw new Error(run.stdout + run.stderr)
rmSync('dist', { recursive: true, force: true })
for (const entry of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
  const path = entry.replaceAll('\\', '/')
  const source = path.replace(/\.d\.ts$/, '.ts')
  if (source === path || packageOf(path) !== name || !existsSync(join(root, source))) continue
  const code = stripTypeScriptTypes(readFileSync(join(root, source), 'utf8'))
  write(path, readFileSync(join(out, path), 'utf8'))
  write(source.replace(/\.ts$/, '.js'), code.replace(/[ \t]+$/gm, ''))
}
if (name === 'runtime')
  for (const file of [
    'chart.css',
    'chart.ts',
    'chart-drawing.ts',
    'chart-model.ts',
    'dom.ts',
    'format.ts',
    'parts/turned-text.ts',
  ]) {
    const target = join('dist/src/actors/runtime/inspect/console', file)
    const text = readFileSync(join(root, 'console', file), 'utf8')
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, file.endsWith('.ts') ? stripTypeScriptTypes(text).replace(/[ \t]+$/gm, '') : text)
  }
console.error(`packed ${relative(root, process.cwd())}`)
