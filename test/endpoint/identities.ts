import { identity } from '../support/messages.js';

/** Who takes part in the endpoint's tests and its bench. */
export const sender = identity('POP000001');
export const receiver = identity('POP000002');
/** Trusted as well, and somebody else. */
export const neighbour = identity('POP000003');
/** Trusted by nobody. */
export const stranger = identity('POP000001 stranger');
