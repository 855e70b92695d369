import { importInSteps } from './import-in-steps.ts'

/** Returns the official client of A2A. It is loaded at the first use, as few servers call agents of others. */
export const a2aSdk = async (): Promise<typeof import('@a2a-js/sdk/client')> => {
  await importInSteps('@a2a-js/sdk/client', import.meta.url)
  return import('@a2a-js/sdk/client')
}
