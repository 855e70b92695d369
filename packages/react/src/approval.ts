import { createElement, type HTMLAttributes, type ReactNode, useId } from 'react'
import type { PendingAction } from '../../client/src/index.ts'
import { useProvided } from './hooks.ts'
import { InputForm, type InputFormProps } from './input-form.ts'

/** A call that waits, and attributes of the group around it. */
export interface ApprovalProps extends Omit<HTMLAttributes<HTMLDivElement>, 'title'> {
  readonly action: PendingAction
  /** What is shown of the call. Default: its tool and its arguments. */
  readonly children?: ReactNode
  readonly approveLabel?: ReactNode
  readonly rejectLabel?: ReactNode
  /** Text of the link that is shown in place of the buttons where the call waits for a sign-in. */
  readonly connectLabel?: ReactNode
  /** Text of the button that sends the input that a tool's server requests. */
  readonly answerLabel?: ReactNode
  /** Shown at fields of that input which appear to be for secrets. */
  readonly secretLabel?: string
  /** Shown in place of the buttons where only an operator may decide. */
  readonly waitingLabel?: ReactNode
}

/**
 * An unstyled group that shows a tool call and lets a person approve or reject it, if the user of a page may, or sign in where
 * the call waits for that, or enter what a tool's server requests. While a decision is on its way, all is disabled. A call that
 * the page runs by itself is not shown.
 */
export const Approval = ({
  action,
  children,
  approveLabel = 'Approve',
  rejectLabel = 'Reject',
  connectLabel = 'Connect',
  answerLabel = 'Send',
  secretLabel = 'Servers must not request secrets: enter none.',
  waitingLabel = 'Waits for an operator.',
  ...rest
}: ApprovalProps): ReactNode => {
  const { opened: session, functions } = useProvided()
  const title = useId()
  const { action_id, tool, deciding = false, approver, declared_by, connection, input } = action
  const button = (label: ReactNode, decide: () => Promise<unknown>) =>
    createElement(
      'button',
      { type: 'button', disabled: deciding, 'aria-describedby': title, onClick: () => void decide() },
      label,
    )
  const link = (href: string, label: ReactNode) =>
    createElement('a', { href, target: '_blank', rel: 'noreferrer', 'aria-describedby': title }, label)
  const controls = () => {
    if (connection?.authorize_url) return [link(connection.authorize_url, connectLabel)]
    if (connection || (approver === undefined && declared_by === undefined)) return [waitingLabel]
    const approve = button(approveLabel, () => session.approve(action_id))
    const reject = button(rejectLabel, () => session.reject(action_id))
    if (!input) return [approve, reject]
    // for a person to check where it leads
    if (input.url)
      return [
        createElement('p', null, `${input.server}: ${input.message}`),
        link(input.url, input.url),
        approve,
        reject,
      ]
    const answer: InputFormProps['answer'] = (content) => void session.approve(action_id, { content })
    const form = { input, disabled: deciding, answerLabel, secretLabel, answer }
    // another request of the same call begins empty
    return [createElement(InputForm, { key: JSON.stringify(input), ...form }, reject)]
  }
  if (functions?.needsApproval(action) === false) return null
  return createElement(
    'div',
    { role: 'group', 'aria-labelledby': title, 'aria-busy': deciding, ...rest },
    createElement('p', { id: title }, children ?? `${tool} ${JSON.stringify(action.arguments)}`),
    ...controls(),
  )
}
