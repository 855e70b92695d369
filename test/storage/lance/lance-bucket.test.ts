import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import type { Service } from '#scripts/services/service.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { LanceSearch } from '#storage/lance/lance-search.ts'
import { LanceTables } from '#storage/lance/lance-tables.ts'
import { LanceVectors } from '#storage/lance/lance-vectors.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import type { Storage } from '#storage/ports.ts'
import { atNight } from '#test/setup/at-night.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { searchContract } from '../contract/search.ts'
import { vectorsContract } from '../contract/vectors.ts'
import { startS3 } from './s3-server.ts'
import { sharedTables } from './shared-tables.ts'

const uri = 's3://troupe/vectors'

/** The variables of the provider, as an operator sets them for a server of another address than Amazon's. */
const variablesOf = (endpoint: string) => ({
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL: endpoint,
  AWS_ALLOW_HTTP: 'true',
})

// its packages are 80 MB, and the same tests run in a folder for every change
describe.runIf(atNight)('LanceDB in a bucket', () => {
  let server: Service
  let packages: LancePackages
  let storage: Storage
  const before = { ...process.env }

  beforeAll(async () => {
    server = await startS3()
    Object.assign(process.env, variablesOf(server.url))
    await fetch(`${server.url}/troupe`, { method: 'PUT' })
    const require = await npmPackages('lancedb')
    packages = lanceOf(require)
    storage = await withLance(openMemoryStorage({ now: Date.now }), { uri, min: 10 }, packages)
  })
  afterAll(async () => {
    await storage.close()
    await server.stop()
    for (const name of Object.keys(variablesOf(''))) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })

  vectorsContract(async () => storage)
  // all that is noted is indexed
  searchContract(async () => new LanceSearch(await LanceTables.at(packages, uri), 1, { unindexed: 0 }))
  sharedTables(() => LanceVectors.open(packages, { uri, min: 10 }))

  it('ends a start in one sentence if there is no such bucket', async () => {
    const opened = withLance(openMemoryStorage({ now: Date.now }), { uri: 's3://troupe-none/x', min: 10 }, packages)
    await expect(opened).rejects.toThrow(
      /^LANCEDB_URI must be a folder or a bucket that can be read and written: .*NoSuchBucket/,
    )
    await expect(opened).rejects.not.toThrow(/\n/)
  })
})
