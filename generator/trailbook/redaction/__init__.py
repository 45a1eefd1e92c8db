"""What comes out before anything is derived, and the one pass that takes it out.

    context = context.load_context(names=..., secret_files=...)
    chat, removed = replacing.redact(chat, context)
    left = verifying.verify(file_bytes, file_name, verifying.secrets_of(context, removed))

Nothing is loaded here: a build that has nothing to do needs the context only.
"""
