# install.mk: make install PREFIX=/usr/local DESTDIR=, make uninstall, make deb.
#
# The tool finds its parts from where it stands: bin/, lib/quipu and libexec/quipu lie side by side.

INSTALL = install
VERSION := $(shell sed -n 's/.*QUIPU_VERSION "\(.*\)".*/\1/p' src/cmd/cmd.h)
TARGET = $(DESTDIR)$(PREFIX)
MANUALS := $(sort $(wildcard doc/man/*.[1-8]))
HEADERS := $(sort $(wildcard include/*.h))
PAGES := $(sort $(wildcard doc/*.md))
PICTURES := $(sort $(wildcard doc/*.png))
DESIGN := $(sort $(wildcard doc/design/*.md))
SHARED := $(sort $(wildcard share/*)) scripts/fetch-source

install: all
	$(INSTALL) -d $(TARGET)/bin $(TARGET)/lib/quipu $(TARGET)/share/pkgconfig $(TARGET)/libexec/quipu \
		$(TARGET)/share/man/man1 $(TARGET)/share/man/man3 $(TARGET)/share/man/man5 \
		$(TARGET)/share/doc/quipu/design $(TARGET)/share/quipu \
		$(TARGET)/share/bash-completion/completions $(TARGET)/share/zsh/site-functions \
		$(TARGET)/share/fish/vendor_completions.d
	$(INSTALL) -m 755 $B/bin/quipu $(TARGET)/bin/quipu
	for n in $(NAMES) $(TOOLS) $(VERSIONED); do ln -sf quipu $(TARGET)/bin/$$n; done
	ln -sf ../../bin/quipu $(TARGET)/libexec/quipu/as
	$(INSTALL) -m 644 $B/lib/quipu/libquipu-rt.a $B/lib/quipu/begin.o $(TARGET)/lib/quipu
	for m in $(MANUALS); do $(INSTALL) -m 644 $$m $(TARGET)/share/man/man$${m##*.}/ || exit 1; done
	for n in $(filter-out quipu-cc,$(NAMES)) $(TOOLS); do ln -sf quipu-cc.1 $(TARGET)/share/man/man1/$$n.1; done
	$(INSTALL) -m 644 completions/quipu $(TARGET)/share/bash-completion/completions/quipu
	for n in $(NAMES) $(VERSIONED); do ln -sf quipu $(TARGET)/share/bash-completion/completions/$$n; done
	$(INSTALL) -m 644 completions/_quipu $(TARGET)/share/zsh/site-functions/_quipu
	$(INSTALL) -m 644 completions/quipu.fish $(TARGET)/share/fish/vendor_completions.d/quipu.fish
	for n in $(NAMES) $(VERSIONED); do \
		ln -sf quipu.fish $(TARGET)/share/fish/vendor_completions.d/$$n.fish; done
	$(INSTALL) -m 644 $(SHARED) $(TARGET)/share/quipu
	$(INSTALL) -m 644 README.md LICENSE $(PAGES) $(PICTURES) $(TARGET)/share/doc/quipu
	$(INSTALL) -m 644 $(DESIGN) $(TARGET)/share/doc/quipu/design
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' quipu.pc.in > $(TARGET)/share/pkgconfig/quipu.pc
	$(INSTALL) -d $(TARGET)/lib/pkgconfig
	$(INSTALL) -m 644 $B/lib/libquipu-trace.a $(TARGET)/lib
	$(INSTALL) -m 755 $B/lib/$(LIBRARY_SHARED) $(TARGET)/lib
	ln -sf $(LIBRARY_SHARED) $(TARGET)/lib/libquipu-trace.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(LIBRARY_LIBS)|' quipu-trace.pc.in \
		> $(TARGET)/lib/pkgconfig/quipu-trace.pc
	$(if $(HEADERS),$(INSTALL) -d $(TARGET)/include && $(INSTALL) -m 644 $(HEADERS) $(TARGET)/include)

# Takes away what this version installs, and directories of its own that are empty then.
uninstall:
	@for n in $(TARGET)/bin/quipu-* $(TARGET)/share/bash-completion/completions/quipu-*; do \
		case $$(readlink "$$n") in quipu) rm -f "$$n";; esac; done
	@for n in $(TARGET)/share/fish/vendor_completions.d/quipu-*; do \
		case $$(readlink "$$n") in quipu.fish) rm -f "$$n";; esac; done
	@rm -f $(TARGET)/bin/quipu $(TARGET)/libexec/quipu/as \
		$(addprefix $(TARGET)/lib/quipu/,libquipu-rt.a begin.o) \
		$(foreach m,$(MANUALS),$(TARGET)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m)) \
		$(patsubst %,$(TARGET)/share/man/man1/%.1,$(NAMES) $(TOOLS)) \
		$(TARGET)/share/bash-completion/completions/quipu $(TARGET)/share/pkgconfig/quipu.pc \
		$(TARGET)/share/zsh/site-functions/_quipu $(TARGET)/share/fish/vendor_completions.d/quipu.fish \
		$(addprefix $(TARGET)/share/doc/quipu/,README.md LICENSE $(notdir $(PAGES) $(PICTURES))) \
		$(addprefix $(TARGET)/share/doc/quipu/design/,$(notdir $(DESIGN))) \
		$(addprefix $(TARGET)/share/quipu/,$(notdir $(SHARED))) \
		$(addprefix $(TARGET)/,$(HEADERS)) $(TARGET)/lib/pkgconfig/quipu-trace.pc \
		$(addprefix $(TARGET)/lib/libquipu-trace,.a .so .so.$(LIBRARY_NUMBER))
	@for d in lib/quipu libexec/quipu share/quipu share/doc/quipu/design share/doc/quipu; do \
		rmdir $(TARGET)/$$d 2>/dev/null || [ ! -e $(TARGET)/$$d ] || echo "$(TARGET)/$$d: kept, it is not empty"; \
	done

# Debian packages, in build/deb.
deb:
	scripts/make-deb $B/deb

.PHONY: install uninstall deb
