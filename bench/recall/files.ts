import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Paths of all files below a folder whose names have this ending, sorted; empty when the folder does not exist. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(folder, name))
}

export const jsonOf = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** Parses a JSON file of a folder of sets; null when there is no such file. */
export const jsonIn = (folder: string | null, name: string): unknown => {
  const path = folder === null ? null : join(folder, name)
  return path === null || !existsSync(path) ? null : jsonOf(path)
}
