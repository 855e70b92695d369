import type { Chart } from '#machines/definition.ts'
import { chartLayout } from '#runtime/inspect/chart-layout.ts'

/** Path of a machine's layout, from the root of the project. */
export const chartPath = (machine: string): string => `console/charts/${machine}.layout.json`

/** Returns the layouts of these machines as files; `path` is from the root of the project. */
export async function chartFiles(
  charts: readonly Chart[],
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  return Promise.all(
    charts.map(async (chart) => ({
      path: chartPath(chart.name),
      text: `${JSON.stringify(await chartLayout(chart))}\n`,
    })),
  )
}
