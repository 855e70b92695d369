import { projectKeys, projects } from '#actors/accounts/kinds.ts'
import { openAuth } from '#actors/accounts/open-auth.ts'
import { activeInstallations } from '#actors/agents/active-installations.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { type ExportReport, exportProject } from '#actors/backup/export-project.ts'
import type { Secrets } from '#actors/backup/file-secrets.ts'
import { type ImportDeps, type ImportReport, importProject } from '#actors/backup/import-project.ts'
import { kinds } from '#actors/capabilities.ts'
import { IdempotentRequests } from '#records/idempotent.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import { systemClock } from '#runtime/clock.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { openServices } from '#test/support/open-services.ts'

/** Project of the session harness. */
export const project = 'prj_a'

/** Store, keys and secrets of an installation. `key` determines its master key; `passphrase` is the operator's. */
export const openPlace = async (storage: Storage = openMemoryStorage(), key = 1, passphrase: string | null = null) => {
  const { log } = await openServices({ storage })
  const masterKey = Buffer.alloc(32, key)
  const box = openSecretBox({ masterKey })
  const auth = openAuth({
    records: storage.records,
    reachOfAgent: agentReaches({ records: storage.records, now: Date.now }),
    activeInstallations: activeInstallations({ records: storage.records, now: Date.now }),
    keys: keysOf({ masterKey }),
    box,
    now: Date.now,
  })
  const secrets: Secrets = { box, pepper: auth.apiKeys.pepperName, passphrase }
  const idempotent = new IdempotentRequests({
    records: storage.records,
    box,
    clock: systemClock,
    log,
  })
  return { storage, auth, secrets, idempotent }
}

export type Place = Awaited<ReturnType<typeof openPlace>>

/** Inserts the row of the project and a secret key, which is returned. */
export const addProject = async ({ storage, auth }: Place, organization = 'org_1'): Promise<string> => {
  const { secret, material } = auth.apiKeys.mint()
  await new Table(storage.records, projects, Date.now).insert({
    id: project,
    project: organization,
    data: auth.projects.newData(project, 'Shop', ['*']),
  })
  await new Table(storage.records, projectKeys, Date.now).insert({
    id: 'key_1',
    project,
    data: {
      name: 'Backend',
      ...material,
      created_by: null,
      expires_at_ms: null,
      revoked_at_ms: null,
      replaced_by: null,
      last_used_at_ms: null,
    },
  })
  return secret
}

/** Exports the project, with the file as text. */
export const exported = async (place: Place): Promise<{ readonly file: string; readonly report: ExportReport }> => {
  let file = ''
  const report = await exportProject({ ...place, kinds, project, now: Date.now }, async (text) => {
    file += text
  })
  return { file, report }
}

/** Imports a file given as text. */
export const imported = (place: Place, file: string, more: Partial<ImportDeps> = {}): Promise<ImportReport> =>
  importProject({
    ...place,
    kinds,
    open: () => chunks(file),
    organization: async () => 'org_2',
    now: Date.now,
    ...more,
  })

/** Bytes of a file in chunks of a size that splits lines and characters anywhere. */
export async function* chunks(file: string, size = 1021): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(file)
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

/** Number of records, commits and blobs of the project in a store. */
export const thingsIn = async ({ storage }: Place): Promise<number> => {
  const counts = await Promise.all(kinds.map((kind) => storage.records.count(kind, projectScope(project))))
  const commits = await storage.commits.ofProject(project, null, 1000)
  const blobs = await storage.blobs.hashes(project, null, 1000)
  const rows = (await storage.records.findGlobal(projects, { project_id: project })) === null ? 0 : 1
  return counts.reduce((sum, count) => sum + count, 0) + commits.length + blobs.length + rows
}
