import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ProviderSpec, providers } from '#specs/data/providers.ts'
import type { GeneratedFile } from './generated-file.ts'

/*
 * The logo of every provider in specs/data/providers.ts, as `specs/logos/<id>.svg`: the vendor's mark on a white tile,
 * so that black marks are visible on dark pages and no logo depends on its background. Marks are
 * files of `marks/`, whose sources are in NOTICE; OpenRouter's is the black one, since its colour is too pale for a
 * white tile. A provider without a file gets the first letter of its name.
 */

/** Margin around the mark, on a tile of 32. */
const inset = 6
const side = 32 - 2 * inset
const black = '#111111'

const marks = fileURLToPath(new URL('marks', import.meta.url))

/** Every logo as a file. */
export const logoFiles = (): readonly GeneratedFile[] => providers.map((provider) => logoFile(provider))

const logoFile = (provider: ProviderSpec): GeneratedFile => {
  const mark = markOf(provider.id)
  const drawn = mark === null ? monogram(provider.name) : placed(mark)
  const tile = `<rect x=".5" y=".5" width="31" height="31" rx="7.5" fill="#ffffff" stroke="#d8dade"/>`
  const open = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32" role="img">'
  const text = `${open}<title>${escaped(provider.name)}</title>${tile}${drawn}</svg>\n`
  return { path: `specs/logos/${provider.id}.svg`, text }
}

const markOf = (id: string): string | null => {
  const file = join(marks, `${id}.svg`)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** Places the mark inside the tile, without anything that runs, loads a resource or takes a colour from the page. */
const placed = (svg: string): string => {
  const [, attributes = '', content = ''] = /<svg([^>]*)>([\s\S]*)<\/svg>/.exec(svg) ?? []
  const width = /viewBox="0 0 (\d+) \1"/.exec(attributes)?.[1] ?? '24'
  const rule = /fill-rule="(\w+)"/.exec(attributes)?.[1]
  const place = `transform="translate(${inset} ${inset}) scale(${(side / Number(width)).toFixed(4)})"`
  const fill = `fill="${black}"${rule === undefined ? '' : ` fill-rule="${rule}"`}`
  return `<g ${place} ${fill}>${harmless(content)}</g>`
}

const harmless = (content: string): string =>
  content
    .replace(/<(script|style|title|foreignObject)\b[\s\S]*?<\/\1>/gi, '')
    .replace(/\s(?:on\w+|style)="[^"]*"/gi, '')
    .replace(/\s(?:xlink:)?href="(?!#)[^"]*"/gi, '')
    .replaceAll('currentColor', black)

const monogram = (name: string): string =>
  `<rect x="${inset}" y="${inset}" width="${side}" height="${side}" rx="${side / 2}" fill="#5b6472"/>` +
  `<path d="${letters[name.charAt(0)] ?? ''}" transform="translate(11 11)" ` +
  'fill="none" stroke="#ffffff" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/>'

/**
 * Letters as paths in a square of 10, since text would depend on the reader's fonts. A letter that is missing here
 * leaves an empty disc.
 */
const letters: Readonly<Record<string, string>> = {
  C: 'M8.3 2.6A4 4 0 1 0 8.3 7.4',
  l: 'M5 1.2V8.8',
  S: 'M7.8 2.3C6.8 1.2 3.2 .9 2.9 3 2.6 5.3 7.7 4.6 7.3 7.1 7 9.2 3.2 9 2.1 7.6',
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
