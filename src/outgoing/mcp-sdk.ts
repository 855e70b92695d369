import { importInSteps } from './import-in-steps.ts'

/**
 * Returns the official client of the Model Context Protocol. It is loaded at the first use, since it takes memory, and
 * without blocking the event loop: importing it at once takes a fifth of a second.
 */
export const mcpSdk = async (): Promise<typeof import('@modelcontextprotocol/client')> => {
  await importInSteps('@modelcontextprotocol/client', import.meta.url)
  return import('@modelcontextprotocol/client')
}
