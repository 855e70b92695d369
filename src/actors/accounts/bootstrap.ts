import { setTimeout as delay } from 'node:timers/promises'
import { type JsonObject, projectScope, type RecordStore } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import type { Row, TypedKind } from '../records/schema.ts'
import { mintSecret } from '../records/secrets.ts'
import { type NewRow, Table } from '../records/table.ts'
import { newId } from '../runtime/index.ts'
import type { ApiKeys } from './api-keys.ts'
import type { KeyMaterial } from './key-ring.ts'
import {
  type MemberData,
  members,
  type OrganizationData,
  organizations,
  type ProjectData,
  type ProjectKeyData,
  projectKeys,
  projects,
} from './kinds.ts'
import { hashPassword } from './passwords.ts'
import type { ProjectDirectory } from './project-directory.ts'

/** Settings from the environment for the first start; null: generate the value. */
export interface BootstrapGiven {
  readonly secretKey: string | null
  readonly ownerEmail: string | null
  readonly ownerPassword: string | null
}

/** Dependencies of `bootstrap`. */
export interface BootstrapDeps extends Pick<Services, 'now' | 'records'> {
  readonly apiKeys: ApiKeys
  readonly projects: ProjectDirectory
  readonly given: BootstrapGiven
  /** Id of a project that an import creates together with its keys. It takes the place of the first project. */
  readonly adopts?: string
  /**
   * Shows the generated secrets. It is called before the installation is marked ready: when it fails, or the process
   * dies before that, the next start generates and shows other secrets.
   */
  readonly show?: (made: Installation) => void | Promise<void>
  /** Waits; replaceable in tests. */
  readonly pause?: (ms: number) => Promise<unknown>
}

/** The organisation and project created by the first start. */
export interface Installation {
  readonly organization: string
  readonly project: string
  readonly ownerEmail: string
  /**
   * Generated secrets, to be shown once; null after the first start. A field is null when the environment gave its
   * value.
   */
  readonly generated: { readonly secretKey: string | null; readonly ownerPassword: string | null } | null
}

type InstallationData = {
  readonly organization: string
  readonly project: string
  readonly member: string
  readonly key: string
  readonly owner_email: string
  /**
   * `ApiKeys.pepperName` of the process that created the installation. Under another master key, keys and sealed
   * secrets are unusable.
   */
  readonly pepper: string
  /** Whether all rows are written. */
  readonly ready: boolean
}

/** The data was created under another master key: every key in it would be refused, and every secret unreadable. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
  constructor(options?: ErrorOptions) {
    super(
      'The data was created under another master key, or some secrets are still encrypted with an earlier one. Set MASTER_KEY to that key, ' +
        'put its file back into DATA_DIR, or list the earlier one in MASTER_KEY_PREVIOUS.',
      options,
    )
  }
}

/** The single row that claims and records the first start. */
export const installations: TypedKind<InstallationData> = { name: 'installations', exported: null }

/** Fixed address of that row; it is not the id of any project or organisation. */
const place = { id: 'installation', project: 'installation' } as const

/** After this many ms without an update, the process that claimed the first start is presumed dead. */
const takeoverMs = 10_000
const pollMs = 100

interface Secrets {
  readonly material: KeyMaterial
  readonly passwordHash: string
  readonly generated: NonNullable<Installation['generated']>
}

/**
 * Creates an organisation, a project, an owner and one secret key at the first start of an installation, and nothing at
 * later starts.
 * If several processes start at once, one creates the rows and the others wait for it. If that process dies midway,
 * another finishes with the same ids and its own secrets.
 *
 * @throws {WrongMasterKey}
 */
export async function bootstrap(deps: BootstrapDeps): Promise<Installation> {
  const table = new Table(deps.records, installations, deps.now)
  const scope = projectScope(place.project)
  const pause = deps.pause ?? ((ms: number) => delay(ms))
  for (;;) {
    const known = await table.get(scope, place.id)
    if (known !== null && known.data.pepper !== deps.apiKeys.pepperName) throw new WrongMasterKey()
    if (known?.data.ready) return installationOf(known.data, null)
    const claim = known === null ? await table.insert({ ...place, data: claimOf(deps) }) : await takeOver(deps, known)
    if (claim === null) {
      await pause(pollMs)
      continue
    }
    const secrets = await secretsOf(deps, claim.data.project === deps.adopts)
    await makeRows(deps, { claim: claim.data, secrets, overwrite: known !== null })
    // a store that stalled has let another process take over, whose secrets have replaced these
    const held = await table.replace(claim, claim.data)
    if (held === null) continue
    const made = installationOf(claim.data, secrets.generated)
    await deps.show?.(made)
    if ((await table.replace(held, { ...claim.data, ready: true })) !== null) return made
  }
}

/**
 * `ApiKeys.pepperName` of the process that created the installation of this store; null when no server has used the
 * store yet.
 */
export const pepperOf = async (records: RecordStore): Promise<string | null> =>
  (await new Table(records, installations, Date.now).get(projectScope(place.project), place.id))?.data.pepper ?? null

/**
 * Takes over a stale claim; null while the process that holds it may still be working. A claim dated far in the future
 * counts as stale too: it was made before the clock was set back.
 */
const takeOver = (deps: BootstrapDeps, claim: Row<InstallationData>): Promise<Row<InstallationData> | null> =>
  Math.abs(deps.now() - claim.updated_at) < takeoverMs
    ? Promise.resolve(null)
    : new Table(deps.records, installations, deps.now).replace(claim, claim.data)

const claimOf = ({ given, apiKeys, adopts }: BootstrapDeps): InstallationData => ({
  organization: newId('org'),
  project: adopts ?? newId('prj'),
  member: newId('usr'),
  key: newId('key'),
  owner_email: given.ownerEmail ?? 'owner@troupe.localhost',
  pepper: apiKeys.pepperName,
  ready: false,
})

const secretsOf = async ({ apiKeys, given }: BootstrapDeps, adopted: boolean): Promise<Secrets> => {
  const key = given.secretKey ?? apiKeys.mint().secret
  const password = given.ownerPassword ?? mintSecret('')
  return {
    material: apiKeys.materialOf(key),
    passwordHash: await hashPassword(password),
    generated: {
      secretKey: given.secretKey === null && !adopted ? key : null,
      ownerPassword: given.ownerPassword === null ? password : null,
    },
  }
}

const makeRows = async (
  deps: BootstrapDeps,
  {
    claim,
    secrets: { material, passwordHash },
    overwrite,
  }: { readonly claim: InstallationData; readonly secrets: Secrets; readonly overwrite: boolean },
): Promise<void> => {
  const { records, now } = deps
  const { organization, project } = claim
  const put = <T extends JsonObject>(kind: TypedKind<T>, row: NewRow<T>) =>
    putRow(new Table(records, kind, now), row, overwrite)
  await put<OrganizationData>(organizations, { id: organization, project: organization, data: { name: 'Default' } })
  await put<MemberData>(members, {
    id: claim.member,
    project: organization,
    data: { email: claim.owner_email, name: null, role: 'owner', password_hash: passwordHash },
  })
  if (project === deps.adopts) return
  await put<ProjectData>(projects, {
    id: project,
    project: organization,
    // Any origin: requests from browsers carry a client token, never our cookie.
    data: deps.projects.newData(project, 'Default', ['*']),
  })
  await put<ProjectKeyData>(projectKeys, { id: claim.key, project, data: firstKey(material) })
}

const firstKey = (material: KeyMaterial): ProjectKeyData => ({
  name: 'First key',
  ...material,
  created_by: null,
  expires_at_ms: null,
  revoked_at_ms: null,
  replaced_by: null,
  last_used_at_ms: null,
})

const putRow = async <T extends JsonObject>(table: Table<T>, row: NewRow<T>, overwrite: boolean): Promise<void> => {
  if ((await table.insert(row)) !== null) return
  if (overwrite) await table.change(projectScope(row.project), row.id, { edit: () => row.data })
}

const installationOf = (data: InstallationData, generated: Installation['generated']): Installation => ({
  organization: data.organization,
  project: data.project,
  ownerEmail: data.owner_email,
  generated,
})
