import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { servedText } from '#transport/static-files.ts'

const folder = fileURLToPath(new URL('../../console', import.meta.url))
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const textOf = (path: string) => readFileSync(path, 'utf8')

describe('files of the console', () => {
  it('have less than 230 KB in total as they are served, compressed', () => {
    const served = files.filter((path) => !path.endsWith('.d.ts'))
    const packed = served.reduce((sum, path) => sum + gzipSync(servedText(path, textOf(path))).length, 0)
    expect(packed).toBeLessThan(230_000)
  })

  it('load nothing from other origins', () => {
    const namespaces = /http:\/\/www\.w3\.org\/(2000\/svg|1999\/xhtml|1998\/Math\/MathML)/g
    const comments = /^\s*\/\/.*$/gm
    // texts of the declarations, which a page shows, may name an address
    const code = files.filter((path) => !path.endsWith('resources/resources.js'))
    for (const path of code)
      expect(textOf(path).replaceAll(comments, '').replaceAll(namespaces, ''), path).not.toMatch(/\bhttps?:\/\//)
    for (const path of files.filter((each) => each.endsWith('.css'))) expect(textOf(path)).not.toMatch(/url\(|@import/)
  })

  it('have no inline script or style, which the content policy forbids', () => {
    const page = textOf(join(folder, 'index.html'))
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/)
  })

  it('store no credential where a script can read it', () => {
    const scripts = files
      .filter((path) => path.endsWith('.js'))
      .map(textOf)
      .join('\n')
    const stored = [...scripts.matchAll(/localStorage\.setItem\(([^)]*)\)/g)].map(([, what]) => what)
    expect(stored).toEqual(["signedInBefore, 'yes'"])
    expect(scripts).not.toMatch(/document\.cookie|sessionStorage|indexedDB/)
  })
})
