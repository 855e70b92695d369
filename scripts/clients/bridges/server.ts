import { Troupe } from '@troupe/client'

const { env }: { readonly env: Readonly<Record<string, string>> } = Object(globalThis).process

/** A client of the server under test. */
export const troupe = new Troupe({ baseUrl: env.TROUPE_URL ?? '', ...(env.TROUPE_KEY && { key: env.TROUPE_KEY }) })

export const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}
