import { readFileSync, realpathSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Maximum number of modules that are imported one by one. */
const maxModules = 1000

/** A static import or re-export at the beginning of a line: comments and strings never begin there. */
const imported = /^(?:import|export)\b([^'"\n;]{0,20000})["']([^"'\n]{1,200})["']/gm

/**
 * Imports the modules of a package one after the other, each in its own turn of the event loop, dependencies first.
 * One `import` of a large package runs all its modules in one turn, which blocks every request meanwhile. A module that
 * is not found this way, or fails, is left to the final `import` of the package. Such packages stay outside of the
 * bundle of a start (src/start/bundled.ts). Never rejects.
 *
 * @param name a package, such as `zod/v4`.
 * @param from URL of the module that imports it.
 */
export const importInSteps = (name: string, from: string): Promise<void> => {
  const imported = begun.get(name) ?? importModules(name, from).catch(() => {})
  begun.set(name, imported)
  return imported
}

const begun = new Map<string, Promise<void>>()

const importModules = async (name: string, from: string): Promise<void> => {
  const seen = new Set<string>()
  const load = async (specifier: string, parent: string): Promise<void> => {
    const url = urlOf(specifier, parent)
    if (url === null || seen.has(url) || seen.size >= maxModules) return
    seen.add(url)
    for (const each of importsOf(url)) await load(each, url)
    await import(url)
    await nextTurn()
  }
  await load(name, from)
}

const importsOf = (url: string): readonly string[] => {
  const text = readFileSync(fileURLToPath(url), 'utf8')
  return [...text.matchAll(imported)].flatMap(([, between = '', specifier = '']) =>
    between.trim() === '' || /\bfrom\s*$/.test(between) ? [specifier] : [],
  )
}

/** Returns the file that an import leads to; null for a built-in module, and for one that cannot be found. */
const urlOf = (specifier: string, parent: string): string | null => {
  if (isBuiltin(specifier)) return null
  try {
    const url = /^\.{0,2}\//.test(specifier) ? new URL(specifier, parent) : packageUrl(specifier, parent)
    return url === null ? null : pathToFileURL(realpathSync(fileURLToPath(url))).href
  } catch {
    return null
  }
}

const packageUrl = (specifier: string, parent: string): URL | null => {
  const parts = specifier.split('/')
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
  const subpath = `.${specifier.slice(name.length)}`
  for (let folder = new URL('.', parent); ; folder = new URL('..', folder)) {
    const root = new URL(`node_modules/${name}/`, folder)
    const json = readJson(new URL('package.json', root))
    if (json !== null) {
      const target = targetOf(Object(json.exports)[subpath])
      return target === null ? null : new URL(target, root)
    }
    if (folder.pathname === '/') return null
  }
}

const readJson = (url: URL): { readonly exports?: unknown } | null => {
  try {
    return JSON.parse(readFileSync(url, 'utf8'))
  } catch {
    return null
  }
}

const conditions: ReadonlySet<string> = new Set(['node', 'import', 'default'])

/** Returns the target of an entry of `exports` for an import in Node; null when there is none. */
const targetOf = (entry: unknown): string | null => {
  if (typeof entry === 'string') return entry
  const found = Object.entries(Object(entry)).find(([condition]) => conditions.has(condition))
  return found === undefined ? null : targetOf(found[1])
}
