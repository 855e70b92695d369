import { sourcesBundled } from '#scripts/services/server.ts'

/** Makes the server's bundle once, before several files start servers at the same time, each from all sources. */
export async function setup(): Promise<void> {
  await sourcesBundled()
}
