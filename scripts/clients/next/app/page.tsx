import { App } from './chat'

export const dynamic = 'force-dynamic'

const Page = () => <App baseUrl={process.env.TROUPE_URL ?? ''} />

export default Page
