import { decisionHandler } from '@troupe/client/server'
import { signedIn, troupe } from '../server'
export const POST = decisionHandler(troupe, signedIn)
