import { readFile } from 'node:fs/promises'
import type { BytesResult } from '#actors/call/use-cases.ts'
import { providers } from '#specs/data/providers.ts'

const folder = new URL('../../../specs/logos/', import.meta.url)
const ids = new Set(providers.map(({ id }) => id))
const known = new Map<string, Promise<BytesResult>>()

/** Returns a provider's logo, read on first request; null for an unknown id. Ids are case-insensitive. */
export const logoOf = (provider: string): Promise<BytesResult> | null => {
  const id = provider.toLowerCase()
  if (!ids.has(id)) return null
  const logo = known.get(id) ?? read(id)
  known.set(id, logo)
  return logo
}

const read = async (id: string): Promise<BytesResult> => ({
  contentType: 'image/svg+xml',
  bytes: await readFile(new URL(`${id}.svg`, folder)),
})
