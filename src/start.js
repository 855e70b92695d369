import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

/*
 * Starts the server with what earlier starts made of its sources: the JavaScript without types, by the hash of each file,
 * and V8's code of it. Taking types away costs a fifth of a start, and 20 MB for the WebAssembly that does it. Where nothing
 * can be written everything is made anew, as by `node src/main.ts`. Imports of sources name their file: to resolve them as
 * Node does looks for package.json in every folder, and parses it for each alias.
 */
const { enableCompileCache, registerHooks, stripTypeScriptTypes } = nodeModule
if (registerHooks === undefined || stripTypeScriptTypes === undefined) {
  process.stderr.write(
    `Troupe needs Node 22.18 or newer, this is ${process.version}. Start it by \`npm start\`: \`npm ci\` brings a Node for most machines.\n`,
  )
  process.exit(1)
}

const folder = fileURLToPath(new URL('../.cache/start', import.meta.url))

const stripped = (source) => {
  const name = createHash('sha256').update(process.version).update(source).digest('hex')
  const file = `${folder}/${name}.js`
  try {
    return readFileSync(file, 'utf8')
  } catch {
    const code = stripTypeScriptTypes(source.toString('utf8'))
    keep(file, code)
    return code
  }
}

/** Under its name at once and whole: several processes start at a time. */
const keep = (file, code) => {
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${file}.${process.pid}`, code)
    renameSync(`${file}.${process.pid}`, file)
  } catch {
    // a read-only installation does without
  }
}

const root = new URL('../', import.meta.url).href
const aliases = JSON.parse(readFileSync(fileURLToPath(new URL('package.json', root)), 'utf8')).imports

/** The file of a source that another one imports, relatively or by an alias; undefined for anything else. */
const sourceOf = (specifier, parent) => {
  if (!specifier.endsWith('.ts') || parent === undefined || !parent.startsWith(root)) return undefined
  if (specifier.startsWith('.')) return new URL(specifier, parent).href
  const slash = specifier.indexOf('/')
  const target = aliases[`${specifier.slice(0, slash)}/*`]
  return target === undefined ? undefined : new URL(target.replace('*', specifier.slice(slash + 1)), root).href
}

registerHooks({
  resolve: (specifier, context, next) => {
    const url = sourceOf(specifier, context.parentURL)
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
  },
  load: (url, context, next) =>
    url.startsWith('file:') && url.endsWith('.ts')
      ? { format: 'module', source: stripped(readFileSync(fileURLToPath(url))), shortCircuit: true }
      : next(url, context),
})
enableCompileCache(`${folder}/v8`)

await import('./main.ts')
