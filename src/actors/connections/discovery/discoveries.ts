import type { AuthChallenge } from '#actors/capability/connection-service.ts'
import { openedOrNull, type SecretBox } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import type { SecretsAt } from '../connection-vault.ts'
import { type ConnectionDiscoveryData, connectionDiscoveries, secretAad } from '../kinds.ts'
import { type KnownClient, knownClientsOf, withClient } from './known-clients.ts'

type At = { readonly project: string; readonly id: string }

const nothing: ConnectionDiscoveryData = { challenge: null, clients: '' }

/** Stores what connections demanded of a sign-in, and our clients at their authorization servers. */
export class Discoveries {
  readonly #table: Table<ConnectionDiscoveryData>
  readonly #box: SecretBox

  constructor({ records, box, now }: { records: RecordStore; box: SecretBox; now: () => number }) {
    this.#table = new Table(records, connectionDiscoveries, now)
    this.#box = box
  }

  /** @throws {StoreUnavailable} */
  async of(at: At): Promise<{ readonly challenge: AuthChallenge | null; readonly clients: readonly KnownClient[] }> {
    const row = await this.#table.get(projectScope(at.project), at.id)
    return { challenge: row?.data.challenge ?? null, clients: this.#opened(at, row?.data.clients ?? '') }
  }

  /** Stores the newest demands of the service. @throws {StoreUnavailable} */
  async challenged(at: SecretsAt, challenge: AuthChallenge): Promise<void> {
    await this.#put(at, (data) => ({ ...data, challenge }))
  }

  /**
   * Stores a client. Of two that were registered at the same time, the first is kept, since its sign-in may have
   * started already.
   *
   * @returns the client that is stored. @throws {StoreUnavailable}
   */
  async keep(at: SecretsAt, client: KnownClient, before: readonly KnownClient[]): Promise<KnownClient> {
    let kept = client
    await this.#put(at, (data) => {
      const clients = this.#opened({ project: at.owner.project, id: at.id }, data.clients)
      const other = clients.find(({ issuer }) => issuer === client.issuer)
      const isNew = other !== undefined && !before.some(({ client_id }) => client_id === other.client_id)
      kept = isNew && client.by === 'registration' && other.redirect_uri === client.redirect_uri ? other : client
      return { ...data, clients: this.#sealed(at, withClient(clients, kept)) }
    })
    return kept
  }

  /** Removes a registered client that its server no longer knows. @throws {StoreUnavailable} */
  async forget(at: SecretsAt, clientId: string): Promise<void> {
    await this.#table.change(projectScope(at.owner.project), at.id, {
      edit: ({ data }) => {
        const clients = this.#opened({ project: at.owner.project, id: at.id }, data.clients)
        const left = clients.filter(({ by, client_id }) => by !== 'registration' || client_id !== clientId)
        return { ...data, clients: this.#sealed(at, left) }
      },
    })
  }

  /** @throws {StoreUnavailable} */
  async remove({ id, owner }: SecretsAt): Promise<void> {
    await this.#table.remove(projectScope(owner.project), id)
  }

  async #put(at: SecretsAt, edit: (data: ConnectionDiscoveryData) => ConnectionDiscoveryData): Promise<void> {
    const { project, tenant, user } = at.owner
    const change = { edit: ({ data }: { readonly data: ConnectionDiscoveryData }) => edit(data) }
    if ((await this.#table.change(projectScope(project), at.id, change)) !== null) return
    const made = await this.#table.insert({ id: at.id, project, tenant, user, data: edit(nothing) })
    if (made === null) await this.#table.change(projectScope(project), at.id, change)
  }

  #sealed({ id, owner }: SecretsAt, clients: readonly KnownClient[]): string {
    return this.#box.seal(JSON.stringify(clients), secretAad({ project: owner.project, id }, 'clients'))
  }

  #opened(at: At, sealed: string): readonly KnownClient[] {
    // encrypted with another master key: clients are registered anew
    const opened = sealed === '' ? null : openedOrNull(this.#box, sealed, secretAad(at, 'clients'))
    return opened === null ? [] : knownClientsOf(opened)
  }
}
