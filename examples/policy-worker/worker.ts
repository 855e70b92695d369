import { Troupe } from '@troupe/client'

/*
 * Decides about calls of `issue_refund` that wait: small ones are approved, those above a limit are rejected, and all others
 * are left to people.
 */
const { TROUPE_URL = 'http://127.0.0.1:8080', TROUPE_KEY = '' } = process.env
const troupe = new Troupe({ baseUrl: TROUPE_URL, key: TROUPE_KEY })

interface Action {
  readonly id: string
  readonly tool: string
  readonly session_id: string
  readonly arguments: { readonly amount?: number }
}

const policy = ({ tool, arguments: { amount } }: Action): 'approve' | 'reject' | null => {
  if (tool !== 'issue_refund' || amount === undefined) return null
  if (amount <= 50) return 'approve'
  return amount > 1000 ? 'reject' : null
}

for (;;) {
  const page = await troupe.request('GET', '/v1/actions', { query: { status: 'pending_approval', limit: 100 } })
  const { data }: { readonly data: readonly Action[] } = await page.json()
  for (const action of data) {
    const decision = policy(action)
    if (decision !== null) console.log(action.id, await troupe.sessions.open(action.session_id)[decision](action.id))
  }
  await new Promise((resolve) => setTimeout(resolve, 1000))
}
