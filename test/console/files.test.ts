import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { servedText } from '#transport/static-files.ts'

const folder = fileURLToPath(new URL('../../console', import.meta.url))
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'))
  .map((entry) => join(entry.parentPath, entry.name))
const textOf = (path: string) => readFileSync(path, 'utf8')

const served = (path: string) => servedText(path, textOf(path), stripTypeScriptTypes)
const packed = (path: string) => gzipSync(served(path)).length
const sizeOf = (paths: ReadonlySet<string>) => [...paths].reduce((sum, path) => sum + packed(path), 0)
const namedIn = (path: string, pattern: RegExp) =>
  [...served(path).matchAll(pattern)].map(([, name = '']) => join(dirname(path), name))
/** Modules that a module loads when it is first needed. */
const lazyIn = (path: string) => namedIn(path, /\bimport\('(\.[^']+)'\)/g)

const wordsIn = (path: string) => textOf(path).match(/[a-z][\w-]*/g) ?? []

/** The modules that a browser loads before it runs these. */
const loadedBy = (paths: readonly string[], found = new Set<string>()): ReadonlySet<string> => {
  for (const path of paths.filter((each) => !found.has(each))) {
    found.add(path)
    loadedBy(namedIn(path, /^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"]/gm), found)
  }
  return found
}

describe('files of the console', () => {
  it('have less than 60 KB for the first page, and less than 150 KB for any page, as they are served, compressed', () => {
    const styles = files.filter((path) => path.endsWith('.css')).reduce((sum, path) => sum + packed(path), 0)
    const first = loadedBy([join(folder, 'app.ts')])
    expect(sizeOf(first) + styles).toBeLessThan(60_000)
    const pages = [...first].flatMap(lazyIn)
    for (const page of ['actor-view.ts', 'fleet-page.ts', 'settings/settings-page.ts'])
      expect(pages).toContain(join(folder, page))
    for (const page of pages)
      expect(sizeOf(new Set([...first, ...loadedBy([page])])) + styles, page).toBeLessThan(150_000)
  })

  it('load nothing from other origins', () => {
    const namespaces = /http:\/\/www\.w3\.org\/(2000\/svg|1999\/xhtml|1998\/Math\/MathML)/g
    const comments = /^\s*\/\/.*$/gm
    // texts of the declarations, which a page shows, may name an address
    const code = files.filter((path) => !path.endsWith('resources/resources.ts'))
    for (const path of code)
      expect(textOf(path).replaceAll(comments, '').replaceAll(namespaces, ''), path).not.toMatch(/\bhttps?:\/\//)
    for (const path of files.filter((each) => each.endsWith('.css'))) expect(textOf(path)).not.toMatch(/url\(|@import/)
  })

  it('have no inline script or style, which the content policy forbids', () => {
    const page = textOf(join(folder, 'index.html'))
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/)
  })

  it('style only classes that a template names', () => {
    const docs = ['shell.ts', 'markup.ts'].map((name) => join(folder, '../src/transport/docs', name))
    const named = new Set([...files.filter((path) => !path.endsWith('.css')), ...docs].flatMap(wordsIn))
    const sheets = files.filter((path) => path.endsWith('.css') && !path.includes('/vendor/'))
    for (const path of sheets) {
      const styled = [...served(path).matchAll(/\.([a-z][\w-]*)/g)].map(([, name = '']) => name)
      expect(
        styled.filter((name) => !named.has(name)),
        path,
      ).toEqual([])
    }
  })

  it('store no credential where a script can read it', () => {
    const scripts = files
      .filter((path) => /\.[jt]s$/.test(path))
      .map(textOf)
      .join('\n')
    const stored = [...scripts.matchAll(/localStorage\.setItem\(([^)]*)\)/g)].map(([, what]) => what)
    expect(stored.sort()).toEqual(['chosenGroups, text', "signedInBefore, 'yes'"])
    expect(scripts).not.toMatch(/document\.cookie|sessionStorage|indexedDB/)
  })
})
