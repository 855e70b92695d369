import { createElement, type HTMLAttributes, type ReactNode, useId } from 'react'
import type { PendingAction } from '../../client/src/index.ts'
import { useProvided } from './hooks.ts'

/** A call that waits, and attributes of the group around it. */
export interface ApprovalProps extends Omit<HTMLAttributes<HTMLDivElement>, 'title'> {
  readonly action: PendingAction
  /** What is shown of the call. Default: its tool and its arguments. */
  readonly children?: ReactNode
  readonly approveLabel?: ReactNode
  readonly rejectLabel?: ReactNode
  /** Text of the link that is shown in place of the buttons where the call waits for a sign-in. */
  readonly connectLabel?: ReactNode
  /** Shown in place of the buttons where only an operator may decide. */
  readonly waitingLabel?: ReactNode
}

/**
 * An unstyled group that shows a tool call and lets a person approve or reject it, if the user of a page may, or sign in where
 * the call waits for that. While a decision is on its way, both are disabled. A call that the page runs by itself is not shown.
 */
export const Approval = ({
  action,
  children,
  approveLabel = 'Approve',
  rejectLabel = 'Reject',
  connectLabel = 'Connect',
  waitingLabel = 'Waits for an operator.',
  ...rest
}: ApprovalProps): ReactNode => {
  const { opened: session, functions } = useProvided()
  const title = useId()
  const { action_id, tool, deciding = false, approver, declared_by, connection } = action
  const button = (label: ReactNode, decide: () => Promise<unknown>) =>
    createElement(
      'button',
      { type: 'button', disabled: deciding, 'aria-describedby': title, onClick: () => void decide() },
      label,
    )
  const controls = () => {
    const href = connection?.authorize_url
    if (href)
      return [
        createElement('a', { href, target: '_blank', rel: 'noreferrer', 'aria-describedby': title }, connectLabel),
      ]
    if (connection || (approver === undefined && declared_by === undefined)) return [waitingLabel]
    return [
      button(approveLabel, () => session.approve(action_id)),
      button(rejectLabel, () => session.reject(action_id)),
    ]
  }
  if (functions?.needsApproval(action) === false) return null
  return createElement(
    'div',
    { role: 'group', 'aria-labelledby': title, 'aria-busy': deciding, ...rest },
    createElement('p', { id: title }, children ?? `${tool} ${JSON.stringify(action.arguments)}`),
    ...controls(),
  )
}
