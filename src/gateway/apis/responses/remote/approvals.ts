import { textOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResponseItem } from '../input-items.ts'

/** A call that required an approval, with the decision. */
export interface DecidedCall {
  /** Id of the item that requested the approval. */
  readonly id: string
  readonly label: string
  readonly name: string
  readonly written: string
  readonly approved: boolean
  readonly reason: string
}

/**
 * Returns the calls that the items approve or refuse and that no item has carried out yet.
 *
 * @throws {ServiceError} `bad_request` for a decision without its approval request.
 */
export const approvedCalls = (items: readonly ResponseItem[]): readonly DecidedCall[] => {
  const requests = new Map(items.filter(({ type }) => type === 'mcp_approval_request').map((item) => [item.id, item]))
  const made = new Set(items.filter(({ type }) => type === 'mcp_call').map((item) => textOf(item.approval_request_id)))
  const decided = new Set<string>()
  return items.flatMap((item): DecidedCall[] => {
    if (item.type !== 'mcp_approval_response') return []
    const id = textOf(item.approval_request_id)
    const request = requests.get(id)
    if (request === undefined)
      throw new ServiceError('bad_request', { param: 'input', message: `No approval ${id} was requested.` })
    if (made.has(id) || decided.has(id)) return []
    decided.add(id)
    const { server_label, name, arguments: written } = request
    const about = { label: textOf(server_label), name: textOf(name), written: textOf(written) }
    return [{ id, ...about, approved: item.approve === true, reason: textOf(item.reason) }]
  })
}
