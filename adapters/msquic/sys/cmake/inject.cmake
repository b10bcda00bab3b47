# CMake includes this right after MsQuic's project() (CMAKE_PROJECT_msquic_INCLUDE). No file of
# MsQuic is changed. Some of its functions are compiled under another name, and the adapter's
# sources, which define the original names, are compiled into the target `core` with MsQuic's
# headers and flags.
#
# WINDLASS_C        directory of the adapter's sources
# WINDLASS_ABI      directory of windlass.h and windlass_msquic.h
# WINDLASS_PACKETS  whether plugins get trace events of packets

function(windlass_rename target source symbol)
    set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/${source} TARGET_DIRECTORY ${target}
        APPEND PROPERTY COMPILE_DEFINITIONS ${symbol}=Native${symbol})
endfunction()

function(windlass_inject)
    windlass_rename(core core/congestion_control.c QuicCongestionControlInitialize)
    windlass_rename(core core/loss_detection.c QuicLossDetectionUninitialize)
    windlass_rename(core core/binding.c QuicBindingReceive)
    foreach(symbol CxPlatStorageOpen CxPlatStorageClose CxPlatStorageReadValue)
        windlass_rename(msquic_platform platform/storage_posix.c ${symbol})
    endforeach()
    set(sources adapter.c describe.c files.c host.c route.c storage.c)
    if(WINDLASS_PACKETS)
        list(APPEND sources trace.c)
    endif()
    list(TRANSFORM sources PREPEND ${WINDLASS_C}/)
    target_sources(core PRIVATE ${sources})
    set_property(SOURCE ${sources} TARGET_DIRECTORY core APPEND PROPERTY COMPILE_OPTIONS -Wall -Wextra -Werror)
    # From MsQuic 2.6 on a congestion control has one function more.
    file(STRINGS ${CMAKE_SOURCE_DIR}/src/core/congestion_control.h statistics REGEX QuicCongestionControlGetNetworkStatistics)
    if(statistics)
        set_property(SOURCE ${WINDLASS_C}/adapter.c TARGET_DIRECTORY core
            APPEND PROPERTY COMPILE_DEFINITIONS WINDLASS_NETWORK_STATISTICS=1)
    endif()
    target_include_directories(core PRIVATE ${WINDLASS_C} ${WINDLASS_ABI} ${CMAKE_SOURCE_DIR}/src/core)
    if(WINDLASS_PACKETS)
        windlass_rename(core core/frame.c QuicFrameLogAll)
        target_compile_definitions(core PRIVATE WINDLASS_PACKETS=1)
        foreach(source packet_builder.c connection.c loss_detection.c cubic.c bbr.c)
            set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/core/${source} TARGET_DIRECTORY core
                APPEND PROPERTY COMPILE_OPTIONS -include ${WINDLASS_C}/trace.h)
        endforeach()
        set_property(SOURCE ${WINDLASS_C}/adapter.c TARGET_DIRECTORY core
            APPEND PROPERTY COMPILE_OPTIONS -include ${WINDLASS_C}/trace.h)
    endif()
    if(QUIC_BUILD_SHARED)
        # Replaces MsQuic's list of exports, which hides the adapter's functions.
        set_target_properties(msquic PROPERTIES
            LINK_FLAGS "-Wl,--version-script=\"${WINDLASS_C}/exports.txt\"")
    endif()
endfunction()

cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL windlass_inject)
