import { npmPackages } from '#scripts/services/npm-packages.ts'

/** Installs what suites of others bring, once, before several files do so at the same time. */
export async function setup(): Promise<void> {
  await Promise.all(['mcp', 'ag-ui', 'lancedb'].map(npmPackages))
}
