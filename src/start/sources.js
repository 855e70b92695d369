import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { enableCompileCache, registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { folderOf, keep } from './bundle.js'

/*
 * A start without a bundle: modules are loaded one by one, from caches of earlier starts: the JavaScript without types,
 * by the hash of each file, and V8's code cache. Stripping types takes a fifth of such a start, and 20 MB for the
 * WebAssembly that does it. Imports of sources are resolved directly: Node's resolution looks for package.json in every
 * folder, and parses it for each alias.
 */
const stripped = (folder, source) => {
  const name = createHash('sha256').update(process.version).update(source).digest('hex')
  const file = `${folder}/${name}.js`
  const kept = tryToRead(file)
  // a power failure may have cut it
  if (kept?.endsWith(end)) return kept
  const code = stripTypeScriptTypes(String(source)) + end
  tryToKeep(file, code)
  return code
}

/** Ends what is kept. */
const end = '\n//'

/**
 * Returns a function that removes the types from a file of the console, and keeps the result for the next start.
 *
 * @param {string} root of the project, without a trailing slash
 * @returns {(source: string) => string}
 */
export const consoleStripper = (root) => (source) => stripped(`${folderOf(root)}/console`, source).slice(0, -end.length)

const tryToRead = (file) => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const tryToKeep = (file, code) => {
  try {
    keep(file, code)
  } catch {
    // a read-only installation works without the cache
  }
}

/** Returns a function that resolves imports of sources, relative or by an alias; undefined for any other import. */
const sourcesOf = (root) => {
  const base = pathToFileURL(`${root}/`).href
  const aliases = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')).imports
  return (specifier, parent) => {
    if (!specifier.endsWith('.ts') || parent === undefined || !parent.startsWith(base)) return undefined
    if (specifier.startsWith('.')) return new URL(specifier, parent).href
    const slash = specifier.indexOf('/')
    const target = aliases[`${specifier.slice(0, slash)}/*`]
    return target === undefined ? undefined : new URL(target.replace('*', specifier.slice(slash + 1)), base).href
  }
}

/**
 * Loads modules of the project from the cache from this call on, and adds missing ones to it.
 *
 * @param {string} root of the project, without a trailing slash
 */
export const keepSources = (root) => {
  const folder = folderOf(root)
  const sourceOf = sourcesOf(root)
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = sourceOf(specifier, context.parentURL)
      return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
    },
    load: (url, context, next) =>
      url.startsWith('file:') && url.endsWith('.ts')
        ? { format: 'module', source: stripped(folder, readFileSync(fileURLToPath(url))), shortCircuit: true }
        : next(url, context),
  })
  enableCompileCache(`${folder}/v8`)
}

/**
 * Loads src/main.ts and its imports.
 *
 * @param {string} root of the project, without a trailing slash
 */
export const loadSources = (root) => {
  keepSources(root)
  return import('../main.ts')
}
