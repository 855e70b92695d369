import type { Row } from '../row.ts'
import { sizeRows } from './bundle-size.ts'
import { costRows } from './client-costs.ts'
import { cutRows } from './tabs/cuts.ts'
import { resumeRows } from './tabs/resume.ts'
import { TabWorld } from './tabs/tab-world.ts'
import { tokenRows } from './tabs/tokens.ts'

/** Measures our clients: what a page loads, the CPU that a delta takes, and what breaks when servers and networks do. */
export const benchClients = async ({ long }: { readonly long: boolean }): Promise<readonly Row[]> => {
  const rows = [...(await sizeRows()), ...(await costRows())]
  const world = await TabWorld.open()
  try {
    return [...rows, ...(await resumeRows(world)), ...(await cutRows(world)), ...(await tokenRows(world, long))]
  } finally {
    await world.close()
  }
}
