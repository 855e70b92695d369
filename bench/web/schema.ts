import { readFileSync } from 'node:fs'

/** Articles of the scrapinghub benchmark by their key. */
export type Articles = Readonly<Record<string, { readonly articleBody?: string }>>

/** Pages of trafilatura's evaluation by their address. */
export type Chunked = Readonly<
  Record<string, { readonly file: string; readonly with: readonly string[]; readonly without: readonly string[] }>
>

/** A file of a public set, read as what its readme says it is. */
export const readSet = <T extends Articles | Chunked>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T
