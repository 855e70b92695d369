import { projectScope, type RecordStore } from '#storage/index.ts'
import { openedOrNull, type SecretBox } from '../records/secret-box.ts'
import { Table } from '../records/table.ts'
import { isObject, type Owner } from '../runtime/index.ts'
import { type ConnectionSecretsData, connectionSecrets, secretAad } from './kinds.ts'

/** A connection and the owner of its secrets. */
export interface SecretsAt {
  readonly id: string
  readonly owner: Pick<Owner, 'project' | 'tenant' | 'user'>
}

/** Secrets that authorise requests to a service. For a connection with an API key, `access_token` is the key. */
export type GrantSecrets = {
  readonly access_token: string
  readonly refresh_token: string | null
}

/** The decrypted secrets of a connection. */
export interface OpenedSecrets {
  /** Null when there is no grant, or it was encrypted with an unknown key. */
  readonly grant: GrantSecrets | null
  readonly clientSecret: string | null
  readonly generation: number
  readonly granted: ConnectionSecretsData['granted']
  /** Generation of which a refresh has begun and has no stored answer; null for none. */
  readonly refreshing: number | null
}

const nothing: ConnectionSecretsData = { grant: '', client_secret: '', generation: 0, granted: null }

/** Stores the secrets of connections, encrypted, in one record per connection. */
export class ConnectionVault {
  readonly #table: Table<ConnectionSecretsData>
  readonly #box: SecretBox

  constructor({ records, box, now }: { records: RecordStore; box: SecretBox; now: () => number }) {
    this.#table = new Table(records, connectionSecrets, now)
    this.#box = box
  }

  /** Returns the secrets of a connection. @throws {StoreUnavailable} */
  async open(at: Pick<SecretsAt, 'id'> & { readonly project: string }): Promise<OpenedSecrets> {
    const row = await this.#table.get(projectScope(at.project), at.id)
    const { grant, client_secret, generation, granted, refreshing = null } = row?.data ?? nothing
    const opened = this.#opened(at, 'grant', grant)
    return {
      grant: opened === null ? null : grantOf(opened),
      clientSecret: this.#opened(at, 'client_secret', client_secret),
      generation,
      granted,
      refreshing,
    }
  }

  /** Stores a grant. @throws {StoreUnavailable} */
  async putGrant(
    at: SecretsAt,
    grant: GrantSecrets,
    { generation, granted }: Pick<ConnectionSecretsData, 'generation' | 'granted'>,
  ): Promise<void> {
    const sealed = this.seal(at, 'grant', JSON.stringify(grant))
    await this.#put(at, (data) => ({ ...data, grant: sealed, generation, granted, refreshing: null }))
  }

  /** Records that the refresh token of this generation is about to be sent; null: that it is still unused. */
  async putRefreshing(at: SecretsAt, generation: number | null): Promise<void> {
    await this.#put(at, (data) => ({ ...data, refreshing: generation }))
  }

  /** Stores the client secret; null removes it. @throws {StoreUnavailable} */
  async putClientSecret(at: SecretsAt, secret: string | null): Promise<void> {
    const sealed = secret === null ? '' : this.seal(at, 'client_secret', secret)
    await this.#put(at, (data) => ({ ...data, client_secret: sealed }))
  }

  /** Removes the grant, but not the client secret. @throws {StoreUnavailable} */
  async dropGrant(at: SecretsAt): Promise<void> {
    await this.#table.change(projectScope(at.owner.project), at.id, {
      edit: (row) => ({ ...row.data, grant: '', granted: null, refreshing: null }),
    })
  }

  /** Removes all secrets of a connection. @throws {StoreUnavailable} */
  async remove({ id, owner }: SecretsAt): Promise<void> {
    await this.#table.remove(projectScope(owner.project), id)
  }

  /** Encrypts a secret of this connection that is stored temporarily outside of the vault. */
  seal({ id, owner }: SecretsAt, field: string, text: string): string {
    return this.#box.seal(text, secretAad({ project: owner.project, id }, field))
  }

  /** Decrypts the output of `seal`; null when that fails. */
  unseal({ id, owner }: SecretsAt, field: string, sealed: string): string | null {
    return this.#opened({ id, project: owner.project }, field, sealed)
  }

  async #put(at: SecretsAt, edit: (data: ConnectionSecretsData) => ConnectionSecretsData): Promise<void> {
    const { project, tenant, user } = at.owner
    const changed = await this.#table.change(projectScope(project), at.id, { edit: (row) => edit(row.data) })
    if (changed !== null) return
    const made = await this.#table.insert({ id: at.id, project, tenant, user, data: edit(nothing) })
    if (made === null) await this.#table.change(projectScope(project), at.id, { edit: (row) => edit(row.data) })
  }

  #opened(at: { readonly project: string; readonly id: string }, field: string, sealed: string): string | null {
    return sealed === '' ? null : openedOrNull(this.#box, sealed, secretAad(at, field))
  }
}

const grantOf = (text: string): GrantSecrets | null => {
  const value: unknown = JSON.parse(text)
  if (!isObject(value) || typeof value.access_token !== 'string') return null
  return {
    access_token: value.access_token,
    refresh_token: typeof value.refresh_token === 'string' ? value.refresh_token : null,
  }
}
