import { ServiceError } from '#specs/errors/errors.ts'
import type { KeyScopes } from '#specs/reach/key-scopes.ts'
import type { Scope } from '#storage/index.ts'
import { memberOf } from '../call/dashboard-principal.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import type { Caller } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { futureOf } from '../records/future-time.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { type Change, Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import type { ApiKeys } from './api-keys.ts'
import { type ProjectKeyData, projectKeys } from './kinds.ts'

export interface ProjectKeyDeps extends Pick<Services, 'now' | 'records'> {
  readonly apiKeys: ApiKeys
}

const viewOf = (row: Row<ProjectKeyData>) => ({
  id: row.id,
  name: row.data.name,
  prefix: row.data.prefix,
  last4: row.data.last4,
  created_by: row.data.created_by,
  scopes: row.data.scopes ?? null,
  expires_at: timestampOrNull(row.data.expires_at_ms),
  last_used_at: timestampOrNull(row.data.last_used_at_ms),
  revoked_at: timestampOrNull(row.data.revoked_at_ms),
  ...rowTimes(row),
})

/** Use-cases of the secret keys of a project. The key itself is only returned by the request that creates it. */
export const projectKeyUseCases = (deps: ProjectKeyDeps): UseCasesOf<'project_keys'> => {
  const { now } = deps
  const keys = new ProjectKeys(deps)
  return {
    'project_keys.list': ({ scope, query }) => keys.resource.list(scope, query),
    'project_keys.create': async (call) =>
      keys.create(audited(call), call.scope, {
        id: newIdFor(call, 'key'),
        given: {
          name: call.body.name,
          created_by: memberOf(call.principal).memberId,
          expires_at_ms: futureOf('expires_at', call.body.expires_at, now()),
          ...scopesOf(call.body.scopes),
        },
      }),
    'project_keys.delete': (call) => keys.revoke(audited(call), call.scope, call.params.key_id),
    'project_keys.rotate': async (call) => {
      const replacement = { id: newIdFor(call, 'key'), createdBy: memberOf(call.principal).memberId }
      return keys.rotate(audited(call), call.scope, {
        id: call.params.key_id,
        by: replacement,
        graceMs: call.body.grace_s * 1000,
      })
    },
  }
}

const scopesOf = (scopes: KeyScopes | null | undefined): { readonly scopes?: KeyScopes } =>
  scopes === null || scopes === undefined ? {} : { scopes }

const audited = (caller: Caller): Audited => new Audited(caller, 'project_key')

/** Properties of a new key. */
type NewKey = Pick<ProjectKeyData, 'name' | 'created_by' | 'expires_at_ms' | 'scopes'>

/** The key that replaces another one in a rotation. */
interface Replacement {
  readonly id: string
  readonly createdBy: string
}

class ProjectKeys {
  readonly resource: RecordResource<ProjectKeyData, ReturnType<typeof viewOf>>
  readonly #table: Table<ProjectKeyData>
  readonly #apiKeys: ApiKeys
  readonly #now: () => number

  constructor({ records, apiKeys, now }: ProjectKeyDeps) {
    this.#table = new Table(records, projectKeys, now)
    this.#apiKeys = apiKeys
    this.#now = now
    this.resource = new RecordResource({ table: this.#table, idPrefix: 'key', view: viewOf })
  }

  /**
   * Creates a key. If the id exists already, the request is repeated after a crash and its first key was never returned
   * to the caller; then the row gets a new key.
   */
  async create(audited: Audited, scope: Scope, { id, given }: { readonly id: string; readonly given: NewKey }) {
    const { secret, material } = this.#apiKeys.mint()
    const data = { ...given, ...material, revoked_at_ms: null, last_used_at_ms: null, replaced_by: null }
    const notices = [audited.line('created', id)]
    const made = await this.#table.insert({ id, project: scope.project, data, notices })
    const row = made ?? (await this.#change(scope, id, { edit: (old) => ({ ...old.data, ...material }) }))
    return { ...viewOf(row), key: secret }
  }

  /** Revokes a key: at once on this node, within a second on others. Revoking again changes nothing. */
  async revoke(audited: Audited, scope: Scope, id: string) {
    const edit = ({ data }: Row<ProjectKeyData>) =>
      data.revoked_at_ms === null ? { ...data, revoked_at_ms: this.#now() } : null
    return viewOf(await this.#change(scope, id, { edit, notices: audited.changed('revoked') }))
  }

  /**
   * Creates a key with the same name, scopes and expiry. The old key expires after `graceMs`, or at its own expiry if that is
   * earlier.
   * The new key is created first: if the process dies in between, both are listed and the old one still works.
   *
   * @throws {ServiceError} `invalid_transition` for a key that is revoked, expired or already rotated.
   */
  async rotate(
    audited: Audited,
    scope: Scope,
    { id, by, graceMs }: { readonly id: string; readonly by: Replacement; readonly graceMs: number },
  ) {
    const old = orNotFound(await this.#table.get(scope, id))
    this.#requireCurrent(old, by.id)
    const { name, expires_at_ms, scopes } = old.data
    const made = await this.create(audited, scope, {
      id: by.id,
      given: { name, created_by: by.createdBy, expires_at_ms, ...(scopes !== undefined && { scopes }) },
    })
    try {
      await this.#change(scope, id, {
        edit: (row) => this.#ending(row, by.id, graceMs),
        notices: audited.changed('rotated'),
      })
    } catch (error) {
      // Only a refusal certainly wrote nothing: after a failure of the store both keys stay.
      if (error instanceof ServiceError) await this.#table.remove(scope, made.id, audited.removed())
      throw error
    }
    return made
  }

  #ending(row: Row<ProjectKeyData>, replacedBy: string, graceMs: number): ProjectKeyData | null {
    this.#requireCurrent(row, replacedBy)
    if (row.data.replaced_by === replacedBy) return null
    const endsAtMs = Math.min(this.#now() + graceMs, row.data.expires_at_ms ?? Number.POSITIVE_INFINITY)
    return { ...row.data, expires_at_ms: endsAtMs, replaced_by: replacedBy }
  }

  #requireCurrent({ data }: Row<ProjectKeyData>, replacedBy: string): void {
    if (data.replaced_by === replacedBy) return
    const expired = data.expires_at_ms !== null && data.expires_at_ms <= this.#now()
    if (data.revoked_at_ms === null && data.replaced_by === null && !expired) return
    throw new ServiceError('invalid_transition', {
      message: 'The key is revoked or expired, or has already been rotated. Create another one.',
    })
  }

  async #change(scope: Scope, id: string, change: Change<ProjectKeyData>) {
    const row = orNotFound(await this.#table.change(scope, id, change))
    this.#apiKeys.forget(row)
    return row
  }
}
