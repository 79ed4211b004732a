import { randomBytes } from 'node:crypto';
import { buildRequest } from '../as4/request.js';
import type { BuiltRequest, RequestPlan } from '../as4/request.js';
import type { Payload, UserMessage } from '../as4/user-message.js';
import { messageUnder, payloadFor } from '../profile.js';
import type { Target } from '../target/target.js';

export interface DraftOptions {
  readonly message?: Partial<UserMessage>;
  /** Bytes of the payload at least. */
  readonly bytes?: number;
  /** How many payloads; one unless said otherwise. All carry the same token. */
  readonly payloads?: number;
  readonly plan?: Partial<Omit<RequestPlan, 'message'>>;
  /** Writes each payload differently, such as without compression. */
  readonly payload?: (payload: Payload) => Payload;
}

/**
 * A message that can be built again and again, as a sender's retry: same id and content, new ids, keys and boundary.
 */
export class Draft {
  readonly token: string;
  readonly plan: RequestPlan;

  constructor(token: string, plan: RequestPlan) {
    this.token = token;
    this.plan = plan;
  }

  get messageId(): string {
    return this.plan.message.messageId;
  }

  build(): BuiltRequest {
    return buildRequest(this.plan);
  }

  /** The same message without a signature. */
  unsigned(): Draft {
    const { identity: _signer, ...plan } = this.plan;
    return new Draft(this.token, plan);
  }

  /** The same message with something said or spelled otherwise. */
  with(change: Partial<Omit<RequestPlan, 'message'>> & { readonly message?: Partial<UserMessage> }): Draft {
    const { message, ...plan } = change;
    return new Draft(this.token, { ...this.plan, ...plan, message: { ...this.plan.message, ...message } });
  }
}

/** A message to the target with a payload of its own, signed and encrypted as the target file says. */
export function draftFor(target: Target, options: DraftOptions = {}): Draft {
  const token = `as4c-${randomBytes(12).toString('hex')}`;
  const count = options.payloads ?? 1;
  const payloads = Array.from({ length: count }, () => {
    const payload = payloadFor(target.profile, target.agreement, token, options.bytes);
    return options.payload === undefined ? payload : options.payload(payload);
  });
  return new Draft(token, {
    message: messageUnder(target.agreement, payloads, options.message),
    ...(target.identity === undefined ? {} : { identity: target.identity }),
    ...(target.encryptFor === undefined ? {} : { receiver: target.encryptFor }),
    ...options.plan,
  });
}

/** The same envelope and parts between other boundary lines: what a rebuilt HTTP request does. */
export function withNewBoundary(request: BuiltRequest): BuiltRequest {
  const old = /boundary="([^"]+)"/.exec(request.contentType)?.[1];
  if (old === undefined) throw new Error('only a multipart request has a boundary');
  const fresh = `=_${randomBytes(16).toString('hex')}`;
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = request.body.indexOf(`--${old}`); at >= 0; at = request.body.indexOf(`--${old}`, from)) {
    pieces.push(request.body.subarray(from, at), Buffer.from(`--${fresh}`, 'latin1'));
    from = at + old.length + 2;
  }
  pieces.push(request.body.subarray(from));
  return { ...request, contentType: request.contentType.replace(old, fresh), body: Buffer.concat(pieces) };
}
