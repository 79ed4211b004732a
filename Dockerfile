# as4-once as a container: Node 24, not root, nothing but the built package and its run-time dependencies.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci --include=dev
COPY src ./src
COPY conformance ./conformance
RUN npx tsc -p tsconfig.json && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The dashboard's plain files are served as they are.
COPY --from=build /app/src/admin/dashboard ./src/admin/dashboard
# Ledger (where it is the embedded one), journal and spool. The journal must outlive the container: mount a volume.
RUN install -d -o node -g node -m 0750 /data
VOLUME /data
USER node
# Traffic, and the admin listener with /healthz, /readyz and /metrics.
EXPOSE 8080 9464
# serve finishes what is in flight: give it times.shutdownGrace (120 s) and a little more before the kill.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["serve", "--config", "/etc/as4-once/front.yaml"]
