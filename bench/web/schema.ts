import { readFileSync } from 'node:fs'

/** Articles of the scrapinghub benchmark by their key. */
export type Articles = Readonly<Record<string, { readonly articleBody?: string }>>

/** Pages of trafilatura's evaluation by their URL. */
export type Chunked = Readonly<
  Record<string, { readonly file: string; readonly with: readonly string[]; readonly without: readonly string[] }>
>

/** Reads a file of a public set, with the type that its readme describes. */
export const readSet = <T extends Articles | Chunked>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T
