import { tokenHandler } from '@troupe/client/server'
import { signedIn, troupe } from '../server'
export const POST = tokenHandler(troupe, signedIn)
