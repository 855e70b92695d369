import { createElement, type HTMLAttributes, type ReactNode, useId } from 'react'
import type { PendingAction } from '../../client/src/index.ts'
import { useSession } from './hooks.ts'

/** A call that waits, and attributes of the group around it. */
export interface ApprovalProps extends Omit<HTMLAttributes<HTMLDivElement>, 'title'> {
  readonly action: PendingAction
  /** What is shown of the call. Default: its tool and its arguments. */
  readonly children?: ReactNode
  readonly approveLabel?: ReactNode
  readonly rejectLabel?: ReactNode
  /** Shown in place of the buttons where only an operator may decide. */
  readonly waitingLabel?: ReactNode
}

/**
 * An unstyled group that shows a tool call and lets a person approve or reject it, if the user of a page may. While a decision is
 * on its way, both are disabled.
 */
export const Approval = ({
  action,
  children,
  approveLabel = 'Approve',
  rejectLabel = 'Reject',
  waitingLabel = 'Waits for an operator.',
  ...rest
}: ApprovalProps): ReactNode => {
  const session = useSession()
  const title = useId()
  const { action_id, tool, deciding = false, approver, declared_by } = action
  const button = (label: ReactNode, decide: () => Promise<unknown>) =>
    createElement(
      'button',
      { type: 'button', disabled: deciding, 'aria-describedby': title, onClick: () => void decide() },
      label,
    )
  return createElement(
    'div',
    { role: 'group', 'aria-labelledby': title, 'aria-busy': deciding, ...rest },
    createElement('p', { id: title }, children ?? `${tool} ${JSON.stringify(action.arguments)}`),
    ...(approver === undefined && declared_by === undefined
      ? [waitingLabel]
      : [button(approveLabel, () => session.approve(action_id)), button(rejectLabel, () => session.reject(action_id))]),
  )
}
