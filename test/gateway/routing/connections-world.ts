import { auditLines } from '#actors/audit/audit-log.ts'
import { auditLog } from '#actors/audit/kinds.ts'
import type { Principal } from '#actors/call/call.ts'
import { kinds } from '#actors/capabilities.ts'
import { ManagedProviders } from '#gateway/routing/managed-providers.ts'
import { openRouting } from '#gateway/routing/open-routing.ts'
import { projectModelUseCases } from '#gateway/routing/project-model-use-cases.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Table } from '#records/table.ts'
import { systemClock } from '#runtime/clock.ts'
import { newId } from '#runtime/ids.ts'
import { projectScope } from '#storage/scope.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { noted } from '#test/support/called-operations.ts'
import { openNoticedServices } from '#test/support/open-services.ts'

/** Options of a test installation. */
export interface ConnectionsWorldOptions {
  /** Loopback hosts that the guard allows. */
  readonly allowed?: readonly string[]
  readonly timeoutMs?: number
}

const noHost = {
  create: () => Promise.reject(new Error('no actor is made here')),
  send: () => Promise.reject(new Error('no actor is told here')),
}

/**
 * The operations on connections, custom providers and models, over a store in memory, with the real secret box and
 * guard.
 */
export const openConnectionsWorld = async ({ allowed = [], timeoutMs = 5000 }: ConnectionsWorldOptions = {}) => {
  let ahead = 0
  const clock = { ...systemClock, now: () => Date.now() + ahead }
  const { records, notices } = await openNoticedServices({ clock })
  notices.start({ host: Object.assign(noHost), sinks: { audit: auditLines(records) } })
  const guard = openSsrfGuard({ allowedPrivateHosts: allowed })
  const box = openSecretBox({ masterKey: Buffer.alloc(32, 7) })
  const managed = new ManagedProviders({ keys: {}, simulated: 'off' })
  const { now } = clock
  const routing = openRouting({ managed, records, box, now })
  const useCases = noted(projectModelUseCases(routing, { records, box, guard, now, timeoutMs }))

  const routed = async (model: string, project = 'prj_a') => {
    try {
      return (await routing.routes.resolve(project, model, 'chat')).map((route) => `${route.provider} ${route.model}`)
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : Promise.reject(error)
    }
  }
  /** `action changes` of each line of the audit log, sorted because several may have the same millisecond. */
  const audited = async () => {
    const lines = await new Table(records, auditLog, now).list(projectScope('prj_a'), { limit: 100 })
    return lines.map(({ data }) => [data.action, ...data.changes].join(' ')).sort()
  }
  /** All stored records of a kind in the project, as text. */
  const stored = async (name: string) => {
    const kind = kinds.find((each) => each.name === name)
    if (kind === undefined) throw new Error(`no kind ${name}`)
    return JSON.stringify(await records.list(kind, projectScope('prj_a'), { limit: 100 }))
  }
  /** The use-cases under another master key, so that sealed keys cannot be opened. */
  const loseKeys = async () => {
    const lost = openSecretBox({ masterKey: Buffer.alloc(32, 8) })
    const later = openRouting({ managed, records, box: lost, now })
    return projectModelUseCases(later, { records, box: lost, guard, now, timeoutMs })
  }
  const close = async () => {
    await notices.stop()
    await routing.close()
    await guard.close()
  }
  /** Advances the time of records and caches; no timer runs. */
  const skip = (ms: number): void => {
    ahead += ms
  }
  return { skip, loseKeys, records, box, routing, useCases, routed, audited, stored, close }
}

export type ConnectionsWorld = Awaited<ReturnType<typeof openConnectionsWorld>>

/** A signed-in admin. */
export const adminOf = (project = 'prj_a'): Principal => ({
  ...{ kind: 'dashboard', organization: 'org_1', memberId: 'usr_1', sessionId: newId('ses'), role: 'admin' },
  project,
})
