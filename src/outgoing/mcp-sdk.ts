import { importInSteps } from './import-in-steps.ts'

type Sdk = typeof import('@modelcontextprotocol/client')

let loaded: Promise<Sdk> | undefined

/**
 * Returns the official client of the Model Context Protocol. It is loaded at the first use, since it takes memory, and
 * without blocking the event loop: importing it at once takes a fifth of a second.
 */
export const mcpSdk = (): Promise<Sdk> => {
  loaded ??= load()
  return loaded
}

const load = async (): Promise<Sdk> => {
  await importInSteps('@modelcontextprotocol/client', import.meta.url).catch(() => {})
  return import('@modelcontextprotocol/client')
}
