import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Checks a file. @throws {Error} when it does not have this SHA-256. */
export async function checkFile(path: string, wanted: string): Promise<void> {
  const hash = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  if (hash !== wanted) throw new Error(`${path} was changed: its SHA-256 is not ${wanted}`)
}

export async function jsonOf(path: string): Promise<unknown> {
  if (!existsSync(path)) return null
  const json: unknown = JSON.parse(await readFile(path, 'utf8'))
  return json
}

/** Imports a package that the operator installed next to the model or the product. */
export async function packageNear(folder: string, name: string): Promise<unknown> {
  for (const from of [join(folder, 'package.json'), import.meta.filename]) {
    const path = resolved(from, name)
    if (path === null) continue
    const module: unknown = await import(pathToFileURL(path).href)
    return module
  }
  throw new Error(`the package ${name} is not installed`)
}

/** Whether the packages are installed with which a model in a folder is run. */
export const hasRuntime = (folder: string): boolean =>
  ['onnxruntime-node', '@huggingface/tokenizers'].every((name) =>
    [join(folder, 'package.json'), import.meta.filename].some((from) => resolved(from, name) !== null),
  )

function resolved(from: string, name: string): string | null {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return null
  }
}
